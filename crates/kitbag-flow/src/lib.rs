//! Workflows of Xircuits that run without Python, with the tools of any MCP server.
//!
//! A [`Drawing`] is a `.xircuits` file, kept as it was written. A [`Flow`] is one that was checked: every link resolved, every
//! component known. [`Flow::run`] runs it as the program that Xircuits makes of it would, down to how values are printed.
//!
//! ```
//! use kitbag_flow::{CheckOptions, Drawing, Flow, Host, Output};
//!
//! struct Lines;
//! impl Output for Lines {
//!     fn print(&self, text: &str) {
//!         println!("{text}");
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut drawing = Drawing::build("hello");
//! let concat = drawing.then("ConcatString", [("a", "Hello ".into()), ("b", "world".into())]);
//! let print = drawing.then("Print", []);
//! drawing.connect((concat, "out"), (print, "msg"));
//! let flow = Flow::new(&drawing.finish()?, &CheckOptions::default()).map_err(|all| all[0].clone())?;
//! flow.run(&Host::new(kitbag::Env::new([], "."), Lines), Default::default()).await?;
//! # Ok(())
//! # }
//! ```

mod check;
mod component;
mod components;
mod drawing;
mod flow;
mod graph;
mod host;
mod library;
mod mermaid;
mod problem;
mod raised;
mod run;
mod value;

pub use component::{Call, Component, Face, Input, Next, Remark, Shape};
pub use drawing::{Drawing, DrawingBuilder, Literal, NodeId};
pub use flow::{CheckOptions, Flow, FlowError, Results, errors, load};
pub use graph::Argument;
pub use host::{Host, NodeDone, Output};
pub use kitbag::BoxFuture;
pub use library::Palette;
pub use problem::{NodePlace, Problem, Severity};
pub use raised::Raised;
pub use value::{Dict, List, Object, Value};
