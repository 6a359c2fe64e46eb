//! Servers at an address: the streamable transport of both eras, and the older one with a stream of events.
//!
//! [`address`] is where and through which connector, [`trust`] whose certificates are good, [`headers`] and
//! [`mirror`] are what goes with a request, [`remote`] sends one and looks at its answer, [`events`] takes streams
//! apart, [`streamable`] and [`sse`] are the transports, and [`reason`] says why something failed.

mod address;
mod doubt;
mod events;
mod headers;
mod mirror;
mod reason;
mod remote;
mod sse;
mod streamable;
mod trust;

pub(crate) use address::Address;
pub(crate) use reason::Trouble;
pub(crate) use remote::Remote;
pub(crate) use streamable::Streamable;
pub(crate) use trust::Trust;

pub(crate) use sse::open as open_sse;
