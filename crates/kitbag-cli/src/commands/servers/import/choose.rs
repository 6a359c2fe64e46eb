//! Under which name each found server is taken. One server in several programs is one; another one of the same
//! name gets the name of its program behind it, so that nothing is left out.

use kitbag::{ServerName, ServerSpec, Transport};
use kitbag_core::config::layers::MergedServer;
use kitbag_core::model::ServerTarget;

use crate::context::server_name;
use crate::exit::{Exit, Failure};

/// What becomes of one found server.
pub(super) struct Chosen<'a> {
    pub(super) row: &'a MergedServer,
    /// What to add, unless it is there already.
    pub(super) spec: Option<ServerSpec>,
    /// What to say about it, behind its name.
    pub(super) remark: Option<String>,
}

/// `taken` are the names that the file has already, `renames` those that were asked for.
pub(super) fn choose<'a>(
    rows: &[&'a MergedServer],
    taken: &[(&str, Option<&ServerSpec>)],
    renames: &[(&str, ServerName)],
) -> Result<Vec<Chosen<'a>>, Failure> {
    let mut chosen: Vec<Chosen<'a>> = Vec::new();
    for row in rows {
        let Some(spec) = row.spec.as_deref() else { continue };
        let is_taken = |name: &str| {
            let added = chosen.iter().filter_map(|chosen| chosen.spec.as_ref());
            taken.iter().any(|(known, _)| *known == name)
                || added.into_iter().any(|added| added.name.as_str() == name)
        };
        let wanted = renames.iter().find(|(old, _)| *old == row.name).map(|(_, new)| new);
        let added = chosen.iter().filter_map(|chosen| chosen.spec.as_ref());
        let mut known = taken.iter().filter_map(|(_, spec)| *spec).chain(added);
        let first = format!("{}-{}", row.name, row.origin.dialect);
        let is_copy = |known: &&ServerSpec| {
            let name = known.name.as_str();
            // What was taken under another name before is not taken again.
            let is_ours =
                wanted.map_or(name == row.name || name.starts_with(&first), |new| known.name == *new);
            is_ours && is_same(known, spec)
        };
        let twin = known.find(is_copy);
        let (spec, remark) = match (twin, wanted) {
            (Some(twin), _) if twin.name.as_str() == row.name => (None, None),
            (Some(twin), _) => (None, Some(format!("is there already as {}", twin.name))),
            (None, Some(new)) if is_taken(new.as_str()) => {
                let failure = Failure::new(Exit::Config, format!("the name {new} is taken"));
                return Err(failure.hint("choose another one behind --rename"));
            }
            (None, Some(new)) => (Some(new.clone()), None),
            (None, None) if is_taken(&row.name) => {
                let others = (2..).map(|n| format!("{first}-{n}"));
                let free = std::iter::once(first.clone()).chain(others).find(|name| !is_taken(name));
                let name = server_name(&free.unwrap_or(first))?;
                let remark = format!("becomes {name}: another server is called {}", row.name);
                (Some(name), Some(remark))
            }
            (None, None) => (Some(spec.name.clone()), None),
        };
        let spec = spec.zip(row.spec.as_deref()).map(|(name, spec)| ServerSpec { name, ..spec.clone() });
        chosen.push(Chosen { row, spec, remark });
    }
    Ok(chosen)
}

/// Whether two entries reach the same server. A program without a word for the
/// transport means whichever the server speaks.
fn is_same(a: &ServerSpec, b: &ServerSpec) -> bool {
    let is_open = [a, b].iter().any(|spec| spec.transport() == Transport::Auto);
    let reach = |spec: &ServerSpec| {
        let mut spec = spec.clone();
        if let (ServerTarget::Remote(endpoint), true) = (&mut spec.link, is_open) {
            endpoint.transport = Transport::Auto;
        }
        spec.fingerprint()
    };
    reach(a) == reach(b)
}
