use crate::connect::ReasonClass;

use super::{Address, Trust, check_literal, connector, usual};

#[track_caller]
fn refused(text: &str, words: &str) {
    let why = Address::parse(text).unwrap_err();
    assert!(why.class == ReasonClass::InvalidUrl && why.to_string().contains(words), "{text:?}: {why}");
}

#[test]
fn what_is_no_address_says_why_without_its_secrets() {
    refused("not a url", "relative URL without a base");
    refused("ftp://x/", "only http and https");
    refused("http://", "empty host");
    refused("http://u:hunter22@/", "***");
    let shown = Address::parse("https://u:hunter22@x.example/mcp?api_key=abcdef123&v=1").unwrap().shown;
    assert!(!shown.contains("hunter22") && !shown.contains("abcdef123") && shown.contains("v=1"), "{shown}");
}

#[test]
fn t37_only_the_same_origin_is_joined() {
    let base = Address::parse("http://127.0.0.1:8080/sse").unwrap();
    let joined = |text: &str| base.join(text).map(String::from);
    assert_eq!(joined("/message?s=1").unwrap(), "http://127.0.0.1:8080/message?s=1");
    assert_eq!(joined("http://127.0.0.1:8080/m").unwrap(), "http://127.0.0.1:8080/m");
    for away in [
        "http://127.0.0.1:8081/m",
        "https://127.0.0.1:8080/m",
        "//evil.example/m",
        "http://localhost:8080/m",
        "http://127.0.0.1:8080@evil.example/m",
        "http://somebody:else@127.0.0.1:8080/m",
        "file:///etc/passwd",
        "data:,x",
        "javascript:alert(1)",
    ] {
        assert!(joined(away).unwrap_err().starts_with("leads away from its origin"), "{away}");
    }
    let own = Address::parse("http://me:secret1@h.example/sse").unwrap();
    assert_eq!(own.join("/m").unwrap().as_str(), "http://me:secret1@h.example/m");
}

#[test]
fn some_addresses_are_nobodys() {
    for text in ["http://169.254.169.254/", "http://[::ffff:169.254.169.254]/", "http://2852039166/"] {
        assert!(check_literal(&Address::parse(text).unwrap().url, usual).is_err(), "{text}");
    }
    for text in ["http://127.0.0.1/", "http://[::1]:80/", "http://10.0.0.1/", "http://h.example/"] {
        assert!(check_literal(&Address::parse(text).unwrap().url, usual).is_ok(), "{text}");
    }
}

#[tokio::test]
async fn a_name_is_checked_when_it_is_dialled() {
    let address = Address::parse("http://localhost:1/").unwrap();
    let wait = std::time::Duration::from_secs(5);
    let client = connector(&address, wait, |_| Err("is not wanted here"), Trust::default()).unwrap();
    let error = client.get(address.url).send().await.unwrap_err();
    assert!(error.is_connect() && super::super::reason::root(&error).contains("is not wanted here"));
}
