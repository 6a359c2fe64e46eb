use std::path::Path;
use std::sync::Arc;

use super::written;
use crate::config::env::{dot_env, is_switched_on, server};
use crate::model::Transport;

#[test]
fn s2_6_the_switch() {
    let check = |value: Option<&str>, on: bool| assert_eq!(is_switched_on(value), on, "{value:?}");
    check(None, true);
    for on in ["true", "1", "yes", "on", "TRUE", " On "] {
        check(Some(on), true);
    }
    for off in ["false", "0", "no", "off", "", " ", "2", "enabled", "tru"] {
        check(Some(off), false);
    }
}

#[test]
fn s4_1_unset_gives_nothing_at_all() {
    for url in ["", " ", "\t\n"] {
        let (spec, faults) = server("MCP_URL", url, Some("t"), Some("broken"));
        assert!(spec.is_none() && faults.is_empty(), "{url:?}");
    }
}

#[test]
fn s4_2_a_blank_value_is_no_server() {
    assert!(server("MCP_URL", "  ", None, None).0.is_none());
    assert!(server("MCP_URL", " http://h/ ", None, None).0.is_some());
}

#[test]
fn s4_3_the_address_is_not_looked_at() {
    for url in ["nonsense", "http://", "ftp://x", "http://h:99999/", "${X}", "http://[::1"] {
        let (spec, faults) = server("MCP_URL", url, None, None);
        assert!(faults.is_empty(), "{url}");
        assert_eq!(written(&spec.unwrap()), format!("auto url={url}"));
    }
}

#[test]
fn s4_16_one_more_server() {
    let (spec, faults) = server("MCP_URL", "http://h/", None, None);
    let spec = spec.unwrap();
    assert_eq!((spec.name.as_str(), spec.transport(), spec.enabled), ("mcp_server", Transport::Auto, true));
    assert_eq!(spec.origin.place.to_string(), "$MCP_URL");
    assert!(faults.is_empty());
    assert_eq!(server("MCP_HUB_URL", "http://h/", None, None).0.unwrap().name.as_str(), "mcp_hub");
}

#[test]
fn s4_16_auth_by_header_and_token() {
    let check = |token: Option<&str>, headers: Option<&str>, want: &str, faults: usize| {
        let (spec, found) = server("MCP_URL", "u", token, headers);
        assert_eq!(written(&spec.unwrap()), format!("auto url=u{want}"), "{token:?} {headers:?}");
        assert_eq!(found.len(), faults);
        assert!(found.iter().all(|fault| !fault.to_string().contains("PLANTED")), "{found:?}");
    };
    check(Some("t"), None, " auth=t", 0);
    check(Some("  "), None, "", 0);
    check(None, Some("X-Key: ${K}"), " headers=${K}", 0);
    check(None, Some("Cookie: a=1; b=2"), " headers=a=1; b=2", 0);
    check(None, Some("A: 1\nB: http://x:1/\n"), " headers=1 headers=http://x:1/", 0);
    check(Some("t"), Some("A: 1\nPLANTED-SECRET"), " headers=1 auth=t", 1);
    let spec =
        server("MCP_URL", "http://a:PLANTED-SECRET@h/", Some("PLANTED-SECRET"), Some("A: PLANTED-SECRET")).0;
    let shown = format!("{spec:?} {:?}", spec.as_ref().unwrap().shown());
    assert!(!shown.contains("PLANTED"), "{shown}");
}

#[test]
fn dot_env_files() {
    let file: Arc<Path> = Path::new(".env").into();
    let (values, faults) = dot_env(
        &file,
        "\u{feff}A=1\r\n# no\nexport B = \"two # 2\" \nC='x' # y\nD=a #b\nE=\nF=a#b\noops\n=1\nG=${A}\n",
    );
    let values: Vec<_> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(values, ["A=1", "B=two # 2", "C=x", "D=a", "E=", "F=a#b", "G=${A}"]);
    let places: Vec<_> = faults.iter().map(|fault| fault.place.as_ref().unwrap().to_string()).collect();
    assert_eq!(places, [".env:8:1", ".env:9:1"]);
}
