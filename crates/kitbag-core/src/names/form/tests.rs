use super::*;
use crate::names::{ServerName, ToolName};

fn plain(form: NameForm, server: &str, tool: &str) -> String {
    form.plain(&(ServerName::parse(server).unwrap(), ToolName::parse(tool).unwrap()))
}

#[test]
fn forms_have_words() {
    for form in NameForm::ALL {
        assert_eq!(NameForm::parse(form.as_str()), Some(form));
    }
    assert_eq!(NameForm::ALL.map(NameForm::as_str), ["full", "short", "bare"]);
    assert_eq!(NameForm::parse("Full"), None);
    assert_eq!(NameForm::default(), NameForm::Full);
}

#[test]
fn s2_2_plain_forms() {
    for (server, tool, full, short, bare) in [
        ("mem-agent", "store_memory", "mcp_mem_agent_store_memory", "mem_agent_store_memory", "store_memory"),
        ("io.github.ada/notes", "get", "mcp_io_github_ada_notes_get", "io_github_ada_notes_get", "get"),
        ("7zip", "7z", "mcp_7zip_7z", "_7zip_7z", "_7z"),
        ("文", "書庫", "mcp_____", "____", "__"),
        ("é", "1é", "mcp___1_", "__1_", "_1_"),
        ("-", "_", "mcp____", "___", "_"),
    ] {
        assert_eq!(plain(NameForm::Full, server, tool), full);
        assert_eq!(plain(NameForm::Short, server, tool), short);
        assert_eq!(plain(NameForm::Bare, server, tool), bare);
        for form in NameForm::ALL {
            assert!(ShownName::parse(&plain(form, server, tool)).is_ok());
        }
    }
}

#[test]
fn what_cannot_be_read_is_not_taken_plain() {
    let naming = Naming::new(NameForm::Bare);
    assert!(!naming.takes("___"));
    assert_eq!(naming.readable("___", 11), "tool");
    assert!(naming.takes("_7z"));
}

#[test]
fn there_is_room_for_a_hash() {
    assert_eq!(Naming::default().within(SHORTEST - 1), Err(TooNarrow(15)));
    assert_eq!(Naming::default().within(SHORTEST).unwrap().longest(), 16);
    assert_eq!(Naming::default().within(1000).unwrap().longest(), 64);
    assert_eq!(TooNarrow(3).to_string(), "3 characters do not hold a name and its hash; the least is 16");
}
