//! Names and origins: who may name which.

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue};

use super::{Access, Refused, TokenRule};

fn access(is_loopback: bool, hosts: &[&str], origins: &[&str]) -> Access {
    let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Access {
        is_loopback,
        token: TokenRule::Optional,
        store: None,
        hosts: (!hosts.is_empty()).then(|| all(hosts)),
        origins: all(origins),
    }
}

fn checked(access: &Access, host: &str, origin: &str) -> Result<(), Refused> {
    let mut headers = HeaderMap::new();
    headers.insert(HOST, HeaderValue::from_str(host).unwrap());
    if !origin.is_empty() {
        headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
    }
    access.check_addresses(&headers)
}

#[test]
fn t39_names_behind_a_proxy_are_let_in_by_name() {
    let proxied = access(true, &["tools.example"], &["https://chat.example"]);
    for (host, origin, wanted) in [
        ("tools.example", "", Ok(())),
        ("Tools.Example:443", "https://tools.example", Ok(())),
        ("tools.example", "https://chat.example", Ok(())),
        ("127.0.0.1:1", "https://chat.example", Ok(())),
        ("127.0.0.1:1", "", Ok(())),
        ("tools.example", "https://other.example", Err(Refused::Origin)),
        ("tools.example", "http://chat.example", Err(Refused::Origin)),
        ("tools.example", "https://chat.example:444", Err(Refused::Origin)),
        ("tools.example", "https://chat.example.evil", Err(Refused::Origin)),
        ("evil.tools.example", "", Err(Refused::Host)),
        ("tools.example.evil", "", Err(Refused::Host)),
        ("127.0.0.1:1", "https://tools.example", Err(Refused::Origin)),
    ] {
        assert_eq!(checked(&proxied, host, origin), wanted, "{host} {origin}");
    }
}

#[test]
fn t39_an_address_for_others_takes_any_name_until_names_are_given() {
    let any = access(false, &[], &[]);
    assert_eq!(checked(&any, "10.0.0.7:8420", ""), Ok(()));
    assert_eq!(checked(&any, "tools.example", "https://tools.example"), Ok(()));
    assert_eq!(checked(&any, "tools.example", "https://evil.example"), Err(Refused::Origin));
    let named = access(false, &["tools.example"], &[]);
    assert_eq!(checked(&named, "tools.example", ""), Ok(()));
    assert_eq!(checked(&named, "10.0.0.7:8420", ""), Err(Refused::Host));
    assert_eq!(checked(&named, "evil.example", "http://evil.example"), Err(Refused::Host));
}

#[test]
fn every_refusal_has_a_word_of_its_own_and_401_a_challenge() {
    let mut words: Vec<_> = Refused::ALL.iter().map(|refused| refused.as_str()).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), Refused::ALL.len());
    for refused in Refused::ALL {
        let challenged = refused.challenge().is_some();
        assert_eq!(challenged, refused.status() == axum::http::StatusCode::UNAUTHORIZED, "{refused:?}");
    }
}
