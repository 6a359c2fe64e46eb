//! What was probably meant: a misspelt key is worth a hint, a merely different one is not.

/// The candidate that a typing mistake away from `word` would give, if exactly such a one stands out.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(word);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other = fold(candidate);
        // Short words are all near each other; one slip in three letters is the most that says anything.
        let room = (folded.len().min(other.len()) / 3).min(2);
        // A difference in length is a distance; measuring the rest is the dear part.
        if candidate == word || room < folded.chars().count().abs_diff(other.chars().count()) {
            continue;
        }
        let distance = strsim::damerau_levenshtein(&folded, &other);
        if distance <= room && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// `MCP-Servers`, `mcp_servers` and `mcpServers` are one word to a person.
fn fold(word: &str) -> String {
    word.chars().take(64).filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}
