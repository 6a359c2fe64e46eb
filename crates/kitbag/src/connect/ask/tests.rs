use super::*;

#[test]
fn only_links_of_the_web_are_passed_on() {
    let check = |params: &str, passed: bool| {
        let raw = RawValue::from_string(params.to_owned()).unwrap();
        assert_eq!(leads_to_the_web(&raw), passed, "{params}");
    };
    check(r#"{"message":"name?"}"#, true);
    check(r#"{"mode":"url","url":"https://example.com"}"#, true);
    check(r#"{"mode":"url","url":"HTTP://example.com"}"#, true);
    check(r#"{"mode":"url","url":"file:///etc/passwd"}"#, false);
    check(r#"{"mode":"url","url":"javascript:alert(1)"}"#, false);
    check(r#"{"url":7}"#, false);
}

#[test]
fn offers_are_json_and_say_what_they_are() {
    for bits in 0..8 {
        let offers = Offers { sampling: bits & 1 != 0, elicitation: bits & 2 != 0, roots: bits & 4 != 0 };
        let json: serde_json::Value = serde_json::from_str(offers.json()).unwrap();
        assert_eq!(json.get("sampling").is_some(), offers.sampling);
        assert_eq!(json.get("elicitation").is_some(), offers.elicitation);
        assert_eq!(json.get("roots").is_some(), offers.roots);
    }
}
