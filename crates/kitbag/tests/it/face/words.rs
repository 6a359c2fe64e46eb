//! Names and kinds as other programs write and read them.

use kitbag::{CallError, ErrorKind, LinkState, ServerName, ShownName, ToolName, UserId};
use serde_json::json;

#[test]
fn f35_names_are_parsed_from_text_and_json() {
    let server: ServerName = "docs".parse().unwrap();
    assert_eq!(ServerName::try_from("docs").unwrap(), server);
    assert_eq!(UserId::try_from("ada".to_owned()).unwrap().as_str(), "ada");
    assert_eq!("a\nb".parse::<ToolName>().unwrap_err().why(), ToolName::parse("a\nb").unwrap_err().why());
    assert_eq!(serde_json::to_value(&server).unwrap(), json!("docs"));
    assert_eq!(serde_json::from_value::<ServerName>(json!("docs")).unwrap(), server);
    assert!(serde_json::from_value::<ShownName>(json!("not a name")).is_err());
}

#[test]
fn f35_kinds_and_errors_serialize_as_their_words() {
    for kind in ErrorKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), json!(kind.as_str()));
    }
    assert_eq!(serde_json::to_value(LinkState::Ready).unwrap(), json!("ready"));
    fn serializes<T: serde::Serialize>() {}
    serializes::<CallError>();
}
