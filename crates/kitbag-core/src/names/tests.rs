use super::*;

#[track_caller]
fn check(text: &str, valid: bool) {
    assert_eq!(ServerName::parse(text).is_ok(), valid, "{text:?}");
    assert_eq!(ToolName::parse(text).is_ok(), valid, "{text:?}");
}

#[test]
fn server_and_tool_names() {
    check("mem-agent_2", true);
    check("Crypto Price & Market Analysis", true);
    check("文件系统", true);
    check("io.github.ada/notes", true);
    check("../../etc/passwd", true);
    check("", false);
    check(" a", false);
    check("a\nb", false);
    check("a\u{200b}b", false);
    check("a\u{202e}b", false);
    check("\u{e0041}", false);
    check(&"x".repeat(128), true);
    check(&"x".repeat(129), false);
}

#[test]
fn shown_names_fit_every_provider() {
    for (text, valid) in [("mcp_fs_read", true), ("_x", true), ("1x", false), ("a-b", false), ("", false)] {
        assert_eq!(ShownName::parse(text).is_ok(), valid, "{text:?}");
    }
    assert!(ShownName::parse(&"x".repeat(64)).is_ok());
    assert!(ShownName::parse(&"x".repeat(65)).is_err());
}

#[test]
fn slugs_are_safe_and_distinct() {
    let names = [
        "github",
        "GitHub",
        "git hub",
        "git-hub",
        "git_hub",
        "git/hub",
        "../github",
        "..",
        ".",
        "/",
        "文件",
        "文書",
        "con",
        "nul",
        "com1",
        "a:b",
        "a\\b",
        "-",
        "--",
        "x y",
        "x  y",
    ];
    let mut seen = std::collections::HashSet::new();
    for name in names {
        let slug = ServerName::parse(name).unwrap().slug();
        assert!(slug.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)), "{slug}");
        assert!(!is_reserved(&slug) && !slug.is_empty() && slug.len() <= 60, "{slug}");
        assert!(seen.insert(slug.to_lowercase()), "{name} meets another name in {slug}");
    }
    assert_eq!(ServerName::parse("github").unwrap().slug(), "github");
}

#[test]
fn t33_hostile_user_ids_are_refused() {
    let mut hostile: Vec<String> = [
        "",
        "..",
        ".",
        "/",
        "../x",
        "a/b",
        "/etc",
        "user_1/../user_2",
        "a\0b",
        "a b",
        "ä",
        "．．",
        "\u{2024}\u{2024}",
        "a.b",
        "C:",
        "a\\b",
        "~",
        "$HOME",
        "%2e%2e",
        "a\n",
        "\u{202e}a",
        "con/",
        "a:b",
        "*",
        "?",
        "a|b",
        "a;b",
        "`id`",
        "$(id)",
    ]
    .map(String::from)
    .to_vec();
    hostile.push("x".repeat(65));
    hostile.push("x".repeat(300));
    for depth in 1..60 {
        hostile.push("../".repeat(depth) + "etc/passwd");
        hostile.push("..\\".repeat(depth) + "windows");
        hostile.push(format!("user_{depth}/../user_{}", depth + 1));
    }
    assert!(200 <= hostile.len());
    for id in hostile {
        assert!(UserId::parse(&id).is_err(), "{id:?}");
        assert!(UserId::of_folder(&format!("user_{id}")).is_none(), "{id:?}");
    }
}

#[test]
fn user_ids_are_case_sensitive() {
    let (ada, twin) = (UserId::parse("ada").unwrap(), UserId::parse("Ada").unwrap());
    assert_ne!(ada, twin);
    assert_ne!(ada.folder(), twin.folder());
    assert_eq!(UserId::of_folder("user_ada"), Some(ada));
    assert_eq!(UserId::of_folder("ada"), None);
}

/// Where case is folded, `Ada` and `ADA` must not find the folder of `ada`, nor anybody the one of another by a name
/// that looks like theirs.
#[test]
fn f8_no_two_users_have_one_folder_of_state() {
    let folder = |id: &str| UserId::parse(id).unwrap().state_folder();
    assert_eq!(folder("ada"), "user_ada");
    let folded: std::collections::BTreeSet<String> =
        ["ada", "Ada", "ADA", "aDa"].map(|id| folder(id).to_lowercase()).into();
    assert_eq!(folded.len(), 4, "{folded:?}");
    for name in folded.iter().filter(|name| *name != "user_ada") {
        assert_eq!(UserId::of_folder(name), None, "{name}");
    }
}

#[test]
fn an_invalid_name_is_shown_short() {
    let message = ServerName::parse(&"x".repeat(500)).unwrap_err().to_string();
    assert!(message.len() < 120 && message.contains("128"), "{message}");
}

/// What a refused name looks like is shown, not obeyed: in faults, too.
#[test]
fn t20_a_refused_name_is_told_without_what_was_wrong_with_it() {
    let hidden = |c: &char| c.is_control() || crate::text::is_hidden(*c);
    for c in ('\0'..=char::MAX).filter(hidden) {
        let told = ToolName::parse(&format!("a{c}b")).unwrap_err().to_string();
        assert!(!told.contains(|c| hidden(&c)), "{}", c.escape_unicode());
    }
}

/// What stands in files and in names given to tools must not change with whoever writes the digits.
#[test]
fn f39_hashes_are_written_as_before() {
    let check = |text: &str, digits: &str, name: &str| {
        let hash = Sha256::digest(text.as_bytes());
        assert_eq!((&hex(&hash)[..16], base32(&hash).as_str()), (digits, name), "{text:?}");
    };
    check("", "e3b0c44298fc1c14", "4oymiquy7q");
    check("a", "ca978112ca1bbdca", "zklycewkdo");
    check("kitbag", "52406cae0e9642eb", "kjagzlqosz");
    assert_eq!(hex(&[]), "");
}
