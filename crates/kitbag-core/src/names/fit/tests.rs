use super::*;

fn named(rows: &[(&str, &str, &str)], longest: usize) -> Vec<String> {
    let pairs: Vec<(ShownName, ServerName, ToolName)> = rows
        .iter()
        .map(|(name, server, tool)| {
            (name.parse().unwrap(), ServerName::parse(server).unwrap(), ToolName::parse(tool).unwrap())
        })
        .collect();
    let rows: Vec<Named<'_>> =
        pairs.iter().map(|(name, server, tool)| (name.clone(), server, tool)).collect();
    fit(&rows, longest).into_iter().map(|name| name.to_string()).collect()
}

const LONG: (&str, &str, &str) =
    ("github_create_pull_request_review", "github", "create_pull_request_review");

#[test]
fn only_what_is_too_long_is_cut() {
    let rows = [("github_get", "github", "get"), LONG];
    assert_eq!(named(&rows, 64), ["github_get", LONG.0]);
    let cut = named(&rows, 30);
    assert_eq!(cut[0], "github_get");
    assert_eq!(cut[1].len(), 30);
    assert!(cut[1].starts_with("github_create_pull_"), "{cut:?}");
    // The same alone, and in any room the same hash.
    assert_eq!(named(&[LONG], 30)[0], cut[1]);
    assert_eq!(named(&[LONG], 24)[0].rsplit('_').next(), cut[1].rsplit('_').next());
    // Less room than a name needs is no room to ask for.
    assert_eq!(named(&[LONG], 1)[0].len(), 16);
}

#[test]
fn a_name_that_ends_in_its_hash_has_it_once() {
    let cut = named(&[LONG], 30).remove(0);
    let hashed = (cut.as_str(), LONG.1, LONG.2);
    let again = named(&[hashed], 25).remove(0);
    assert_eq!(again, named(&[LONG], 25)[0]);
}

#[test]
fn a_tool_that_is_called_like_the_cut_name_of_another_gives_way() {
    let cut = named(&[LONG], 30).remove(0);
    let mimic = (cut.as_str(), "evil", cut.as_str());
    for rows in [[LONG, mimic], [mimic, LONG]] {
        let names = named(&rows, 30);
        let of =
            |row: (&str, &str, &str)| names[rows.iter().position(|other| *other == row).unwrap()].clone();
        assert_eq!(of(LONG), cut, "whose name it is keeps it");
        assert_ne!(of(mimic), cut);
        assert!(of(mimic).len() <= 30);
    }
}

#[test]
fn gateways_are_cut_by_their_server() {
    let server = ServerName::parse("a-server-with-a-rather-long-name").unwrap();
    let name: ShownName = "mcp_a_server_with_a_rather_long_name".parse().unwrap();
    assert_eq!(fit_gateway(&name, &server, 64), name);
    let cut = fit_gateway(&name, &server, 30);
    assert_eq!(cut.as_str().len(), 30);
    assert!(cut.as_str().starts_with("mcp_a_server_"), "{cut}");
}
