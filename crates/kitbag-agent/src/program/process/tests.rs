use super::Lines;

async fn lines(text: &str, most: usize) -> Vec<String> {
    let mut lines = Lines { pipe: text.as_bytes(), bytes: Vec::new(), most };
    let mut all = Vec::new();
    while let Some(line) = lines.next().await {
        all.push(String::from_utf8(line).unwrap());
    }
    all
}

#[tokio::test]
async fn lines_that_are_too_long_are_left_out() {
    assert_eq!(lines("one\n\nthree\nrest", 5).await, ["one", "", "three", "rest"]);
    assert_eq!(lines("one\ntoolong\nend", 5).await, ["one", "end"]);
    let long = "x".repeat(100_000);
    assert_eq!(lines(&format!("a\n{long}\nb\n{long}"), 5).await, ["a", "b"]);
}

#[tokio::test]
async fn of_an_answer_that_is_too_long_the_beginning_counts() {
    let text = "x".repeat(100_000);
    let mut lines = Lines { pipe: text.as_bytes(), bytes: Vec::new(), most: 40_000 };
    assert_eq!(lines.all().await.len(), 40_000);
}
