use std::path::Path;

use crate::config::Source;
use crate::fault::{Fault, FaultKind};

#[track_caller]
fn check(text: &str, needle: &str, line: u32, column: u32) {
    let source = Source::new(Path::new("x"), text);
    let at = source.position(source.text().find(needle).unwrap_or(source.text().len()));
    assert_eq!((at.line, at.column), (line, column), "{text:?}");
}

#[test]
fn places_count_lines_and_characters() {
    check("a\nb", "b", 2, 1);
    check("a\r\nb", "b", 2, 1);
    check("a\r\rb", "b", 3, 1);
    check("\u{feff}ab", "b", 1, 2);
    check("\ta", "a", 1, 2);
    check("漢字a", "a", 1, 3);
    check("😀é😀a", "a", 1, 4);
    check("x\n漢\n", "none", 3, 1);
    check("", "none", 1, 1);
    check(&format!("{}b", "漢".repeat(1000)), "b", 1, 1001);
    check(&format!("{}\n{}b", "é".repeat(500), "x".repeat(300)), "b", 2, 301);
}

#[test]
fn snippets_point_at_the_character() {
    let check = |text: &str, needle: &str, want: &str| {
        let source = Source::new(Path::new("x"), text);
        let at = source.position(source.text().find(needle).unwrap());
        let snippet = source.mark(Fault::error(FaultKind::Syntax, ""), at).snippet.unwrap();
        let (head, tail): (String, String) = (
            snippet.text.chars().take(snippet.start).collect(),
            snippet.text.chars().skip(snippet.start).collect(),
        );
        assert_eq!(format!("{head}^{tail}"), want, "{text:?}");
    };
    check("{\"a\": 1}\r\n", "1", "{\"a\": ^1}");
    check("\t\"a\": 1", "1", "→\"a\": ^1");
    check("\"漢\": 1, \"b\": 2", "2", "\"漢\": 1, \"b\": ^2");
    check("\"😀\": 1,\n\"é\": 2", "2", "\"é\": ^2");
    check("\u{feff}\"a\": 1", "1", "\"a\": ^1");
    check("\"a\": 1\r\"b\": 2", "2", "\"b\": ^2");
}

#[test]
fn one_line_of_megabytes() {
    for filler in ["\"k\":\"v\",", "\"漢\":\"é\","] {
        let text = format!("{{{}\"last\": 7}}", filler.repeat((3 << 20) / filler.len()));
        let source = Source::new(Path::new("x"), &text);
        let count = text.chars().count();
        for _ in 0..1_000 {
            let at = source.position(text.len() - 2);
            assert_eq!(at.column as usize, count - 1);
            let snippet = source.mark(Fault::error(FaultKind::Syntax, ""), at).snippet.unwrap();
            assert_eq!(snippet.text.chars().nth(snippet.start), Some('7'), "{snippet:?}");
            assert!(snippet.text.len() < 400);
        }
    }
}
