//! All pages of a server's tool list, and no more than that.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use kitbag_core::catalog::{ListCut, Rejected};
use kitbag_core::{InvalidName, Limits, ToolName};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::era::Era;
use super::peer::{Clocks, Peer, RequestContext, RequestError};
use super::wire::Param;

/// One tool as its server defines it.
#[derive(Clone, Debug)]
pub struct RawTool {
    /// Its name.
    pub name: ToolName,
    /// Its definition, as received.
    pub raw: Box<RawValue>,
}

/// What a server lists.
#[derive(Clone, Debug, Default)]
pub struct ToolList {
    /// Its tools, in its own order, each name once.
    pub tools: Vec<RawTool>,
    /// Definitions that were left out, and why.
    pub rejected: Vec<Rejected>,
    /// How many more were left out.
    pub rejected_more: usize,
    /// Why there may be more, if the list was not read to its end.
    pub truncated: Option<ListCut>,
    /// Whether that was by an error in the middle.
    pub broke_off: bool,
    /// How long the server asked to be left alone then.
    pub(crate) wait: Duration,
    /// How long it holds, if its server says so.
    pub ttl: Option<Duration>,
    /// Whether its server says that it is for whoever asked alone.
    pub private: bool,
}

impl ToolList {
    /// Whether both list the same tools, byte for byte and in the same order.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.tools.len() == other.tools.len()
            && self.tools.iter().zip(&other.tools).all(|(one, other)| one.raw.get() == other.raw.get())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    #[serde(borrow, default)]
    tools: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    next_cursor: Option<&'a RawValue>,
    #[serde(borrow, default)]
    ttl_ms: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cache_scope: Option<&'a RawValue>,
}

/// The longest a list is believed to hold.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Definitions left out that are told one by one.
const MOST_REJECTED: usize = 100;

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Pages through a list. The clocks bound the whole of it, not each page.
pub(crate) async fn tools(peer: &Peer, era: Era, limits: &Limits) -> Result<ToolList, RequestError> {
    let deadline = tokio::time::Instant::now() + limits.wait_list;
    let mut list = ToolList::default();
    let mut names = HashMap::new();
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    let mut bytes = 0;
    for _ in 0..limits.pages {
        let left = deadline.saturating_duration_since(tokio::time::Instant::now());
        let clocks = Clocks::of(left);
        let params: Vec<_> = cursor.iter().map(|cursor| ("cursor", Param::Text(cursor))).collect();
        let ask = || peer.request("tools/list", &params, era, clocks, RequestContext::default());
        let answer = match ask().await {
            // A connection may end under any request, and asking for a list again does no harm.
            Err(RequestError::Broken(_)) => ask().await,
            answer => answer,
        };
        let raw = match answer.map_err(|error| whole(error, limits)) {
            Ok(raw) => raw,
            // What came before the trouble is worth keeping.
            Err(error) if !list.tools.is_empty() => {
                list.truncated = Some(ListCut::because(format!("the list broke off: {error}")));
                list.broke_off = true;
                list.wait = error.wait();
                return Ok(list);
            }
            Err(error) => return Err(error),
        };
        bytes += raw.get().len();
        if limits.list < bytes && !list.tools.is_empty() {
            list.truncated = Some(ListCut::by("list", format!("more than {} bytes", limits.list)));
            return Ok(list);
        }
        let page: Page<'_> = serde_json::from_str(raw.get())
            .map_err(|_| RequestError::BadAnswer("the result of tools/list has no list of tools".into()))?;
        list.ttl = ttl(page.ttl_ms).or(list.ttl);
        list.private |= page.cache_scope.is_some_and(|scope| scope.get() == "\"private\"");
        for tool in &page.tools {
            if limits.tools <= list.tools.len() {
                list.truncated = Some(ListCut::by("tools", format!("more than {} tools", limits.tools)));
                return Ok(list);
            }
            take(&mut list, &mut names, tool);
        }
        match next(page.next_cursor, era, &mut seen, limits) {
            Next::End => return Ok(list),
            Next::Stop(why) => {
                list.truncated = Some(why);
                return Ok(list);
            }
            Next::Page(next) => cursor = Some(next),
        }
    }
    list.truncated = Some(ListCut::by("pages", format!("more than {} pages", limits.pages)));
    Ok(list)
}

/// The clock that ran out is that of the whole list, not what was left of it for this page.
fn whole(error: RequestError, limits: &Limits) -> RequestError {
    match error {
        RequestError::Timeout { sent, .. } => RequestError::Timeout { after: limits.wait_list, sent },
        error => error,
    }
}

fn ttl(raw: Option<&RawValue>) -> Option<Duration> {
    let ms: f64 = raw?.get().parse().ok()?;
    (0.0 <= ms).then(|| Duration::from_secs_f64((ms / 1000.0).min(DAY.as_secs_f64())))
}

/// One definition by itself: what is wrong with it costs no other.
fn take(list: &mut ToolList, names: &mut HashMap<ToolName, usize>, raw: &RawValue) {
    match named(raw) {
        Ok(name) => match names.get(&name) {
            None => {
                names.insert(name.clone(), list.tools.len());
                list.tools.push(RawTool { name, raw: raw.to_owned() });
            }
            // The same once more, as on pages that go in circles, takes nothing away.
            Some(known) if list.tools.get(*known).is_some_and(|tool| tool.raw.get() == raw.get()) => {}
            Some(_) => list.reject(Rejected::new(name.as_str(), "another of this name is listed before it")),
        },
        Err(rejected) => list.reject(rejected),
    }
}

fn named(raw: &RawValue) -> Result<ToolName, Rejected> {
    let named = serde_json::from_str::<Named>(raw.get()).map_err(|_| Rejected::new("", "it has no name"))?;
    let invalid = |why: InvalidName| Rejected::new(&named.name, &format!("its name {}", why.why()));
    ToolName::parse(&named.name).map_err(invalid)
}

impl ToolList {
    /// Of a flood the first are kept, the others counted.
    fn reject(&mut self, rejected: Rejected) {
        if self.rejected.len() < MOST_REJECTED {
            self.rejected.push(rejected);
        } else {
            self.rejected_more += 1;
        }
    }
}

enum Next {
    End,
    Page(String),
    Stop(ListCut),
}

/// An empty cursor is the end to older servers and a cursor like any other to newer ones; one seen before
/// means to both that the list goes in circles.
fn next(cursor: Option<&RawValue>, era: Era, seen: &mut HashSet<String>, limits: &Limits) -> Next {
    let Some(text) =
        cursor.and_then(|cursor| serde_json::from_str::<Option<String>>(cursor.get()).ok().flatten())
    else {
        return Next::End;
    };
    if text.is_empty() && era == Era::Legacy {
        return Next::End;
    }
    if limits.cursor < text.len() {
        return Next::Stop(ListCut::by("cursor", format!("a cursor of {} bytes", text.len())));
    }
    if !seen.insert(text.clone()) {
        return Next::Stop(ListCut::because("the pages repeat"));
    }
    Next::Page(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_beyond_its_bound_ends_the_list() {
        let limits = Limits::default();
        let next = |length: usize| {
            let cursor = serde_json::value::to_raw_value(&"c".repeat(length)).unwrap();
            next(Some(&cursor), Era::Legacy, &mut HashSet::new(), &limits)
        };
        assert!(matches!(next(limits.cursor), Next::Page(_)));
        assert!(matches!(next(limits.cursor + 1), Next::Stop(cut) if cut.why == "a cursor of 65537 bytes"));
    }
}
