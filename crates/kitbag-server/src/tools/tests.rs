use super::*;

#[test]
fn a_description_ends_with_a_sentence_or_a_word() {
    let check =
        |text: &str, most: usize, expected: &str| assert_eq!(shortened(text, most), expected, "{most}");
    let text = "It reads a file. It never writes one.";
    check(text, usize::MAX, text);
    check(text, 37, text);
    check(text, 36, "It reads a file. It never writes…");
    check(text, 20, "It reads a file.…");
    check(text, 8, "It read…");
    check("文字文字文字", 4, "文字文…");
    check("", 4, "");
}
