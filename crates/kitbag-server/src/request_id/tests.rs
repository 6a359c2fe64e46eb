use super::*;

fn id(text: &str) -> Option<RequestId> {
    RequestId::read(&RawValue::from_string(text.to_owned()).unwrap())
}

#[test]
fn ids_are_told_apart_by_what_they_mean() {
    let check = |one: &str, other: &str, same: bool| {
        assert_eq!(id(one) == id(other), same, "{one} {other}");
        assert!(id(one).is_some() && id(other).is_some());
    };
    check("1", "1", true);
    check("1", "1.0", true);
    check("100", "1e2", true);
    check("1.5", "1.50", true);
    check("1", "\"1\"", false);
    check("\"a\"", "\"\\u0061\"", true);
    check("-1", "1", false);
    check("18446744073709551616", "18446744073709551617", false);
    check("\"\"", "0", false);
    for wrong in ["[1]", "{}", "true", "null"] {
        assert_eq!(id(wrong), None, "{wrong}");
    }
}
