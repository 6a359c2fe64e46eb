use serde_json::json;

use super::*;

fn redactor(values: &[&str]) -> Redactor {
    let secrets: Vec<Secret> = values.iter().copied().map(Secret::new).collect();
    Redactor::new(&secrets)
}

const PEM: &str = "-----BEGIN PRIVATE KEY-----\n\
    MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n\
    MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n\
    NMoSfm76oqFvAp8Gy0iz5sxjZmSnXyCdPEovGhLa0VzMaQ8s+CLOyS56YyCFGeJZ\n\
    qgtzJ6GR3e==\n\
    -----END PRIVATE KEY-----\n";

/// No part of at least twelve bytes of a secret is in a text.
#[track_caller]
fn hides(text: &str, secret: &str) {
    let bytes: Vec<u8> = secret.bytes().collect();
    for part in bytes.windows(PART).filter_map(|part| std::str::from_utf8(part).ok()) {
        let ruler = part.chars().collect::<std::collections::BTreeSet<_>>().len() < 4;
        assert!(ruler || !text.contains(part), "{part:?} in {text}");
    }
}

#[test]
fn f21_a_key_of_many_lines_is_hidden_line_by_line() {
    let known = redactor(&[PEM]);
    let masked = known.mask(PEM).into_owned();
    assert_eq!(masked, "***\n".repeat(6));
    // Each line by itself, in any order, indented, prefixed.
    for line in PEM.lines().filter(|line| PART <= line.len()) {
        let shown = known.mask(line).into_owned();
        assert_eq!(shown, "***", "{line}");
        assert_eq!(known.mask(&format!("12:01 INFO   {line} (end)")), "12:01 INFO   *** (end)");
    }
    let indented = PEM.replace('\n', "\n      ");
    assert_eq!(
        known.mask(&format!("key: |\n      {indented}x")),
        format!("key: |\n{}      x", "      ***\n".repeat(6))
    );
    let windows = PEM.replace('\n', "\r\n");
    assert_eq!(known.mask(&windows), "***\r\n".repeat(6));
}

#[test]
fn f21_a_short_last_line_goes_with_the_line_before() {
    let value = "Zmlyc3QgbGluZSBvZiBhIHNlY3JldCBrZXkh\nQ==";
    let known = redactor(&[value]);
    assert_eq!(known.mask(value), "***\n***");
    assert_eq!(known.mask("Q== is no secret"), "Q== is no secret");
    // In a log, where lines come one by one.
    let mut lines = value.lines();
    let (first, last) = (lines.next().unwrap(), lines.next().unwrap());
    assert_eq!(known.line(first.as_bytes()), "***");
    assert_eq!(known.line_after(first.as_bytes(), last.as_bytes()), "***");
    assert_eq!(known.line_after(b"something else", last.as_bytes()), "Q==");
    // In a list, where every line is a text.
    assert_eq!(
        known.mask_value(&json!({"lines": [first, last], "n": 1})),
        json!({"lines": ["***", "***"], "n": 1})
    );
}

#[test]
fn f71_escaped_and_encoded_values_are_hidden() {
    let secrets = [
        PEM,
        "it's \"quoted\"\\ and 12 more",
        "pässwörd→mit…Ümläuten",
        "tab\tand\u{1b}escape-9",
        "s3cr3t/w+x==",
    ];
    for secret in secrets {
        let known = redactor(&[secret]);
        for form in forms(secret) {
            let text = format!("before {form} after");
            let shown = known.mask(&text).into_owned();
            let mut rest = shown.replace(MASK, "");
            rest.retain(|c| !c.is_whitespace());
            // Digits of base64 that are shared with what stands beside it may stay.
            assert!(rest.len() <= "beforeafter".len() + 4, "{form}: {shown}");
            assert!(shown.starts_with("before ") && shown.ends_with(" after"), "{shown}");
            hides(&shown, &form);
        }
        let debug = format!("{secret:?}");
        hides(&known.mask(&debug), &debug);
        let as_json = json!({"a": [secret], "b": secret}).to_string();
        assert_eq!(known.mask(&as_json).replace("\"***\"", "*").replace("***", "*"), r#"{"a":[*],"b":*}"#);
    }
}

#[test]
fn f71_parts_are_hidden_wherever_they_were_cut() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let known = redactor(&[secret]);
    for start in 0..secret.len() - PART {
        for end in start + PART..=secret.len() {
            let text = format!("invalid key {}…", &secret[start..end]);
            assert_eq!(known.mask(&text), "invalid key ***…");
        }
        let split = format!("{}\n  {}", &secret[..start], &secret[start..]);
        hides(&known.mask(&split), &secret[..start.max(1)]);
        assert!(known.mask(&split).ends_with("***"), "{}", known.mask(&split));
    }
    assert_eq!(known.mask("ghp_0123456"), "ghp_0123456");
    // Wrapped in its encoding, as mail programs do.
    let long = redactor(&[PEM]);
    let wrapped: Vec<String> = forms(PEM)
        .into_iter()
        .filter(|form| form.len() > 300)
        .map(|form| {
            form.as_bytes()
                .chunks(76)
                .map(|line| String::from_utf8_lossy(line).into_owned())
                .collect::<Vec<_>>()
                .join("\n")
        })
        .collect();
    for text in wrapped {
        let shown = long.mask(&text).into_owned();
        hides(&shown, &text);
    }
}

#[test]
fn f21_what_is_no_secret_stays() {
    let known = redactor(&["true", "8080", "names", "password", "changeme", "      ", "hunter2"]);
    let text = "names = true at http://localhost:8080/mcp, password changeme";
    assert_eq!(known.mask(text), text);
    assert_eq!(known.mask("hunter2!"), "***!");
    assert!(redactor(&["true", "8080"]).is_empty());
    // A ruler is no part of a key.
    assert_eq!(
        redactor(&[PEM]).mask("--------------------\n====================\n"),
        "--------------------\n====================\n"
    );
    assert_eq!(redactor(&[PEM]).mask("cannot read PEM: no BEGIN line"), "cannot read PEM: no BEGIN line");
}

#[test]
fn characters_stay_whole() {
    let known = redactor(&["ééééé-1234567890"]);
    for text in ["ééééé-1234567890", "xé-1234567890ö", "ã©-1234567890", "日本é-1234567890日本"]
    {
        let shown = known.mask(text);
        assert!(!shown.contains('\u{fffd}') && shown.contains("***"), "{text}: {shown}");
    }
    assert_eq!(known.mask_bytes(b"\xff\xfe\xa9-1234567890\xff"), &b"\xff***\xff"[..]);
}

#[test]
fn t31_a_cut_leaves_no_half() {
    let secret = "PLANTED-secret-value-123";
    let known = redactor(&[secret]);
    let line = format!("{}{secret}{}", "x ".repeat(50), " y".repeat(50));
    for most in 90..140 {
        let head = String::from_utf8_lossy(known.head(line.as_bytes(), most)).into_owned();
        let shown = known.line(head.as_bytes());
        assert!(!shown.contains("PLA") && !shown.contains("123"), "{most}: {shown}");
    }
}
