//! How much of a model's room a text takes.

/// Tokens of a text by o200k, the encoding of OpenAI's models. Other vendors count otherwise: for them it is an
/// estimate.
pub fn count(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

#[cfg(test)]
mod tests {
    #[test]
    fn tokens_are_counted_as_openai_counts_them() {
        for (text, tokens) in
            [("", 0), ("hello world", 2), ("tiktoken is great!", 6), ("お誕生日おめでとう", 8)]
        {
            assert_eq!(super::count(text), tokens, "{text}");
        }
    }
}
