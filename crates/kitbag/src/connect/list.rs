//! All pages of one list of a server, and no more than that; and what is taken of a list of tools.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use kitbag_core::catalog::{ListCut, Rejected};
use kitbag_core::{InvalidName, Limits, ToolName};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::era::Era;
use super::peer::{Clocks, Peer, RequestContext, RequestError};
use super::wire::{Param, members};

mod items;

pub use items::{ItemList, RawItem};
pub(crate) use items::{ListKind, bad_uri, items};

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

/// Definitions left out that are told one by one.
const MOST_REJECTED: usize = 100;

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Pages through the list of tools. The clocks bound the whole of it, not each page.
pub(crate) async fn tools(peer: &Peer, era: Era, limits: &Limits) -> Result<ToolList, RequestError> {
    let mut taken = TakenTools::default();
    let kind = Pages { method: "tools/list", member: "tools", row: "tools", most: limits.tools };
    let end = pages(peer, era, limits, kind, &mut taken).await?;
    let ListEnd { truncated, broke_off, wait, ttl, private } = end;
    Ok(ToolList { truncated, broke_off, wait, ttl, private, ..taken.list })
}

/// Which list is read, and how much of it.
#[derive(Clone, Copy)]
struct Pages {
    method: &'static str,
    /// Under which key of a page its items stand.
    member: &'static str,
    /// What bounds it, as a row of the limits.
    row: &'static str,
    most: usize,
}

/// Where the items of a list go.
trait TakesItems {
    /// How many were taken.
    fn count(&self) -> usize;
    /// One item by itself: what is wrong with it costs no other.
    fn take(&mut self, raw: &RawValue);
}

/// How a list ended.
#[derive(Default)]
struct ListEnd {
    truncated: Option<ListCut>,
    broke_off: bool,
    wait: Duration,
    ttl: Option<Duration>,
    private: bool,
}

impl ListEnd {
    fn cut(self, cut: ListCut) -> Self {
        Self { truncated: Some(cut), ..self }
    }
}

/// Reads all pages of a list.
async fn pages(
    peer: &Peer,
    era: Era,
    limits: &Limits,
    kind: Pages,
    taken: &mut impl TakesItems,
) -> Result<ListEnd, RequestError> {
    let deadline = tokio::time::Instant::now() + limits.wait_list;
    let mut end = ListEnd::default();
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    let mut bytes = 0;
    for _ in 0..limits.pages {
        let left = deadline.saturating_duration_since(tokio::time::Instant::now());
        let clocks = Clocks::of(left);
        let params: Vec<_> = cursor.iter().map(|cursor| ("cursor", Param::Text(cursor))).collect();
        let ask = || peer.request(kind.method, &params, era, clocks, RequestContext::default());
        let answer = match ask().await {
            // A connection may end under any request, and asking for a list again does no harm.
            Err(RequestError::Broken(_)) => ask().await,
            answer => answer,
        };
        let raw = match answer.map_err(|error| whole(error, limits)) {
            Ok(raw) => raw,
            // What came before the trouble is worth keeping.
            Err(error) if 0 < taken.count() => {
                let cut = ListCut::because(format!("the list broke off: {error}"));
                return Ok(ListEnd { broke_off: true, wait: error.wait(), ..end.cut(cut) });
            }
            Err(error) => return Err(error),
        };
        bytes += raw.get().len();
        if limits.list < bytes && 0 < taken.count() {
            return Ok(end.cut(ListCut::by("list", format!("more than {} bytes", limits.list))));
        }
        let page = Page::read(&raw, kind)?;
        // A list holds no longer than any of its pages.
        end.ttl = [end.ttl, ttl(page.ttl_ms, limits.holds)].into_iter().flatten().min();
        end.private |= page.cache_scope.is_some_and(|scope| scope.get() == "\"private\"");
        for item in &page.items {
            if kind.most <= taken.count() {
                return Ok(end.cut(ListCut::by(kind.row, format!("more than {} {}", kind.most, kind.row))));
            }
            taken.take(item);
        }
        match next(page.next_cursor, era, &mut seen, limits) {
            Next::End => return Ok(end),
            Next::Stop(why) => return Ok(end.cut(why)),
            Next::Page(next) => cursor = Some(next),
        }
    }
    Ok(end.cut(ListCut::by("pages", format!("more than {} pages", limits.pages))))
}

/// One page of a list.
#[derive(Default)]
struct Page<'a> {
    items: Vec<&'a RawValue>,
    next_cursor: Option<&'a RawValue>,
    ttl_ms: Option<&'a RawValue>,
    cache_scope: Option<&'a RawValue>,
}

impl<'a> Page<'a> {
    fn read(raw: &'a RawValue, kind: Pages) -> Result<Self, RequestError> {
        let bad =
            || RequestError::BadAnswer(format!("the result of {} has no list of {}", kind.method, kind.row));
        let mut page = Self::default();
        for (key, value) in members(raw).ok_or_else(bad)? {
            match key.as_str() {
                "nextCursor" => page.next_cursor = Some(value),
                "ttlMs" => page.ttl_ms = Some(value),
                "cacheScope" => page.cache_scope = Some(value),
                key if key == kind.member => {
                    page.items = serde_json::from_str(value.get()).map_err(|_| bad())?;
                }
                _ => {}
            }
        }
        Ok(page)
    }
}

/// The clock that ran out is that of the whole list, not what was left of it for this page.
fn whole(error: RequestError, limits: &Limits) -> RequestError {
    match error {
        RequestError::Timeout { sent, .. } => RequestError::Timeout { after: limits.wait_list, sent },
        error => error,
    }
}

/// How long a page holds by the word of its server: never for less than no time, nor for longer than is believed. What is
/// not a number says nothing.
fn ttl(raw: Option<&RawValue>, most: Duration) -> Option<Duration> {
    let ms: f64 = raw?.get().parse().ok()?;
    (!ms.is_nan()).then(|| Duration::from_secs_f64((ms / 1000.0).clamp(0.0, most.as_secs_f64())))
}

/// The tools taken so far, and where each name stands.
#[derive(Default)]
struct TakenTools {
    list: ToolList,
    names: HashMap<ToolName, usize>,
}

impl TakesItems for TakenTools {
    fn count(&self) -> usize {
        self.list.tools.len()
    }

    fn take(&mut self, raw: &RawValue) {
        let Self { list, names } = self;
        match named(raw) {
            Ok(name) => match names.get(&name) {
                None => {
                    names.insert(name.clone(), list.tools.len());
                    list.tools.push(RawTool { name, raw: raw.to_owned() });
                }
                // The same once more, as on pages that go in circles, takes nothing away.
                Some(known) if list.tools.get(*known).is_some_and(|tool| tool.raw.get() == raw.get()) => {}
                Some(_) => {
                    list.reject(Rejected::new(name.as_str(), "another of this name is listed before it"));
                }
            },
            Err(rejected) => list.reject(rejected),
        }
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
    fn t42_how_long_a_list_holds_is_clamped() {
        let hour = Duration::from_secs(3600);
        for (said, holds) in [
            ("60000", Some(60)),
            ("59999.9999", Some(60)),
            ("0", Some(0)),
            ("-0.0", Some(0)),
            ("-1", Some(0)),
            ("-1e999", Some(0)),
            ("3600001", Some(3600)),
            ("9223372036854775808", Some(3600)),
            ("1e999", Some(3600)),
            ("\"60000\"", None),
            ("null", None),
            ("[1]", None),
        ] {
            let raw = RawValue::from_string(said.to_owned()).unwrap();
            let ttl = ttl(Some(&raw), hour).map(|ttl| ttl.as_secs_f64().round() as u64);
            assert_eq!(ttl, holds, "{said}");
        }
        assert_eq!(ttl(None, hour), None);
    }

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
