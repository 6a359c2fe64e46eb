//! Servers at an address: the streamable transport of both eras, and the older one with a stream of events.
//!
//! [`address`] is where and through which connector, [`trust`] whose certificates are good, [`proxy`] by which proxy, [`headers`] and
//! [`mirror`] are what goes with a request, [`remote`] sends one and looks at its answer, [`events`] takes streams
//! apart, [`streamable`] and [`sse`] are the transports, [`api`] is for clients of other APIs, and [`reason`] says why something failed.

mod address;
mod api;
mod doubt;
mod events;
mod headers;
mod mirror;
mod proxy;
mod reason;
mod remote;
mod said;
mod sse;
mod streamable;
mod trust;

pub(crate) use address::{Address, Route};
pub use api::{ApiEvents, ApiHost, retry_time};
pub(crate) use headers::check as check_headers;
pub(crate) use reason::Trouble;
pub(crate) use remote::Remote;
pub(crate) use streamable::Streamable;

pub(crate) use sse::open as open_sse;
