//! How much of a model's context a text takes.

/// Tokens of a text by o200k, the encoding of OpenAI's models. Other vendors count otherwise: for them it is an
/// estimate.
pub fn count(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
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

    /// One word of a megabyte would take an hour if merging were quadratic.
    #[test]
    fn a_long_word_is_counted_in_the_time_of_its_length() {
        assert!(super::count(&"ab".repeat(500_000)) < 500_000);
        assert!(super::count(&"é".repeat(200_000)) <= 200_000);
    }
}
