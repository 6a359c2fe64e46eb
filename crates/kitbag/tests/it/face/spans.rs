//! Spans for whoever traces the program: what was done, never with what.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use kitbag::OpenOptions;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::server::{open, says_hi, server};

type Span = (&'static str, BTreeMap<String, String>);

/// Keeps every span with its fields.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<Span>>>);

struct Fields<'a>(&'a mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.name().starts_with("mcp.")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = BTreeMap::new();
        span.record(&mut Fields(&mut fields));
        let mut spans = self.0.lock().unwrap();
        spans.push((span.metadata().name(), fields));
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let at = usize::try_from(span.into_u64()).unwrap() - 1;
        values.record(&mut Fields(&mut self.0.lock().unwrap()[at].1));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn f35_opening_listing_and_calling_are_spans_without_arguments() {
    let spans = Spans::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tracing::subscriber::with_default(spans.clone(), || {
        runtime.block_on(async {
            let (spec, _) = server("x", says_hi);
            let kit = open(vec![spec], OpenOptions::default()).await;
            kit.call("mcp_x_echo", r#"{"q": "private"}"#).await.unwrap();
            kit.call("mcp_x_nothing", r#"{"q": "private"}"#).await.unwrap_err();
            kit.close().await;
        });
    });
    let mut spans = spans.0.lock().unwrap();
    let mut ids: Vec<String> = spans.iter_mut().filter_map(|(_, fields)| fields.remove("call")).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 2, "each call has an id of its own");
    let told = |fields: &[(&str, &str)]| -> BTreeMap<String, String> {
        fields.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let call = told(&[("user", "local"), ("server", "x"), ("tool", "echo"), ("outcome", "ok")]);
    let expected = [
        ("mcp.open", told(&[("server", "x"), ("outcome", "ready")])),
        ("mcp.list", told(&[("server", "x"), ("outcome", "ok"), ("tools", "1")])),
        ("mcp.call", call),
        ("mcp.call", told(&[("user", "local"), ("outcome", "not_found")])),
    ];
    assert_eq!(*spans, expected);
}
