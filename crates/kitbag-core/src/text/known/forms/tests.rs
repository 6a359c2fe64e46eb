use super::*;

#[track_caller]
fn check(value: &str, want: &str) {
    let forms = forms(value);
    assert!(forms.contains(want), "no {want} in {forms:#?}");
}

#[test]
fn t31_every_form() {
    let value = "a\"b'c\\d/é€😀\n%2 x";
    check(value, value);
    check(value, r#"a\"b'c\\d/é€😀\n%2 x"#);
    check(value, r#"a\"b'c\\d\/\u00e9\u20ac\ud83d\ude00\n%2 x"#);
    check(value, r#"a\"b'c\\d/\u00E9\u20AC\uD83D\uDE00\n%2 x"#);
    check(value, r#"a\\\"b'c\\\\d/é€😀\\n%2 x"#);
    check(value, r#"a"b\'c\\d/é€😀\n%2 x"#);
    check(value, r#"a"b\'c\\d/\xe9\u20ac\U0001f600\n%2 x"#);
    check(value, r#"a"b\'c\\d/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n%2 x"#);
    check(value, "a%22b%27c%5Cd%2F%C3%A9%E2%82%AC%F0%9F%98%80%0A%252%20x");
    check(value, "a%22b'c%5cd%2f%c3%a9%e2%82%ac%f0%9f%98%80%0a%252+x");
    check(value, "a%22b%27c%5Cd/%C3%A9%E2%82%AC%F0%9F%98%80%0A%252%20x");
    check("Ab1!xyz", "4162312178797a");
    check("Ab1!xyz", "4162312178797A");
    check("it's here", "it'\\''s here");
}

#[test]
fn t31_base64_wherever_it_stands() {
    check("Planted/Secret+1 2", "UGxhbnRlZC9TZWNyZXQrMSAy");
    check("secret??>>~~", "c2VjcmV0Pz8+Pn5+");
    check("secret??>>~~", "c2VjcmV0Pz8-Pn5-");
    for before in ["", "u", "us", "user"] {
        for after in ["", ":", ":x", ":xy"] {
            let whole = BASE64_NOPAD.encode(format!("{before}hunter2hunter2{after}").as_bytes());
            let found = forms("hunter2hunter2").into_iter().filter(|form| whole.contains(form.as_str()));
            let longest = found.map(|form| form.len()).max().unwrap_or_default();
            // 14 bytes are 112 bits, of which at most ten stand in digits that are shared.
            assert!(17 <= longest, "{before} {after}: {longest} of {whole}");
        }
    }
}
