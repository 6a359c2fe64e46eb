use kitbag_core::Limits;

use crate::connect::ReasonClass;

use super::{Address, Route, check_literal, connector, usual};

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

/// Containers get their credentials from 169.254.170.2, others from other hosts of that range.
#[test]
fn f26_no_link_local_address_is_dialled_however_it_is_written() {
    let refused = |host: &str| {
        let address = Address::parse(&format!("http://{host}/")).unwrap();
        check_literal(&address.url, usual).is_err()
    };
    for host in [
        "169.254.0.0",
        "169.254.0.1",
        "169.254.170.2",
        "169.254.255.255",
        "0xa9fe0001",
        "0251.0376.0.1",
        "2851995649",
        "169.254.1",
        "169.16646144",
        "[::ffff:169.254.170.2]",
        "[::ffff:a9fe:aa02]",
        "[::169.254.170.2]",
        "[64:ff9b::169.254.170.2]",
        "[::ffff:0:169.254.170.2]",
        "[2002:a9fe:aa02::1]",
        "[fe80::1]",
        "[fe80:0:0:0:1234::1]",
        "[febf:ffff::1]",
        "[fd00:ec2::254]",
        "[fd20:ce::254]",
        "[ff02::1]",
        "255.255.255.255",
    ] {
        assert!(refused(host), "{host}");
    }
    for host in [
        "127.0.0.1",
        "127.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "192.168.0.1",
        "100.64.0.1",
        "[fec0::1]",
        "[fd00::1]",
        "[64:ff9b::8.8.8.8]",
        "[2002:808:808::1]",
        "[2001:db8::a9fe:aa02]",
    ] {
        assert!(!refused(host), "{host}");
    }
}

#[tokio::test]
async fn a_name_is_checked_when_it_is_dialled() {
    let address = Address::parse("http://localhost:1/").unwrap();
    let limits = Limits::default();
    let client = connector(&address, &limits, |_| Err("is not wanted here"), &Route::default()).unwrap();
    let error = client.get(address.url).send().await.unwrap_err();
    assert!(error.is_connect() && super::super::reason::root(&error).contains("is not wanted here"));
}
