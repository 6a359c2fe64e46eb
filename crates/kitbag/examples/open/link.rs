//! A link to the fake server, for the length of one measurement.

use kitbag::connect::{Link, RawCall};
use serde_json::value::RawValue;

use crate::open;

/// Measures something on a link that is connected; `keys` say to what.
pub(crate) async fn with_link<T>(keys: &str, work: impl AsyncFnOnce(Link) -> T) -> T {
    let (kit, _home) = open::start(&format!(r#""fake": {{{keys}, "concurrency": 64}}"#));
    let link = kit.links().into_iter().next().unwrap().clone();
    link.settled().await;
    let done = work(link).await;
    kit.close().await;
    done
}

/// One call; the size of its result.
pub(crate) async fn call(link: &Link, tool: &str, arguments: &RawValue) -> usize {
    let call = RawCall::new(tool, arguments);
    link.call(call).await.unwrap().result.get().len()
}

/// Arguments of a call.
pub(crate) fn arguments(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}
