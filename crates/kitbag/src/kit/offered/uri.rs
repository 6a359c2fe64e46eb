//! URIs that are unique over servers: `kitbag+<server>:` before the one its server wrote. Which server is meant is looked
//! up, so the URI of a resource stays the same whichever servers are added, and after a restart.

use kitbag_core::ServerName;

const SCHEME: &str = "kitbag+";

/// The URI of a resource of a server that no other server has.
pub fn unique(server: &ServerName, own: &str) -> String {
    format!("{SCHEME}{}:{own}", token(server))
}

/// The server of a unique URI, and what that server calls it.
pub(super) fn read<'s, 'u>(
    uri: &'u str,
    servers: impl IntoIterator<Item = &'s ServerName>,
) -> Option<(&'s ServerName, &'u str)> {
    // Schemes have no case, and some programs write them in small letters.
    let scheme = uri.get(..SCHEME.len())?;
    let (asked, own) = uri.get(SCHEME.len()..)?.split_once(':')?;
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return None;
    }
    // Some write the name of a server as it is.
    let asked = asked.replace('_', ".");
    let server = servers.into_iter().find(|server| token(server).eq_ignore_ascii_case(&asked))?;
    Some((server, own))
}

/// Whether a URI speaks of a server, be it one that is not there.
pub(super) fn is_unique(uri: &str) -> bool {
    uri.get(..SCHEME.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME)) && uri.contains(':')
}

/// A server as part of a scheme, which has letters, digits, `+`, `-` and `.` alone; distinct for distinct servers.
fn token(server: &ServerName) -> String {
    server.slug().replace('_', ".")
}

/// Whether a template may expand to a URI.
pub(super) fn may_expand(template: &str, uri: &str) -> bool {
    let mut rest = uri;
    let mut is_open = false;
    for (index, part) in template.split('{').enumerate() {
        let literal = match (index, part.split_once('}')) {
            (0, _) => part,
            (_, Some((_, literal))) => {
                is_open = true;
                literal
            }
            // A brace that is never closed is none.
            (_, None) => return false,
        };
        if literal.is_empty() {
            continue;
        }
        let at = if is_open { rest.find(literal) } else { rest.starts_with(literal).then_some(0) };
        let Some(at) = at else { return false };
        rest = &rest[at + literal.len()..];
        is_open = false;
    }
    let last = template.rsplit('}').next().unwrap_or_default();
    // What was found first need not be the last: `{a}/x` expands to `x/x/x`.
    is_open || rest.is_empty() || (template.contains('{') && !last.is_empty() && uri.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str) -> ServerName {
        ServerName::parse(name).unwrap()
    }

    #[test]
    fn unique_uris_lead_back_to_their_server() {
        let names = ["x", "a_b", "a-b", "GitHub", "github", "文", "Crypto Price", "a.b", "con"];
        let servers: Vec<ServerName> = names.iter().map(|name| server(name)).collect();
        for one in &servers {
            for own in ["file:///a:b", "x", "kitbag+x:y", "demo://{a}/b"] {
                let shown = unique(one, own);
                assert_eq!(read(&shown, &servers), Some((one, own)), "{shown}");
                let scheme = shown.split_once(':').unwrap().0;
                let is_valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c);
                assert!(scheme.chars().all(is_valid), "{shown}");
            }
        }
        let alone = [server("x")];
        for other in ["kitbag+y:a", "kitbag+x", "file:///a", "kitbag+", "", "kitbag+文"] {
            assert_eq!(read(other, &alone), None, "{other}");
        }
    }

    #[test]
    fn templates_know_what_they_expand_to() {
        let check = |template: &str, uri: &str, fits: bool| {
            assert_eq!(may_expand(template, uri), fits, "{template} {uri}");
        };
        check("demo://text/{id}", "demo://text/7", true);
        check("demo://text/{id}", "demo://blob/7", false);
        check("demo://{a}/x/{b}", "demo://1/x/2", true);
        check("demo://{a}/x", "demo://x/x/x", true);
        check("demo://{a}/x", "demo://x/y", false);
        check("file:///{+path}", "file:///a/b/c", true);
        check("plain", "plain", true);
        check("plain", "plainer", false);
        check("{x", "y", false);
        check("a{?q}", "a?q=1", true);
    }
}
