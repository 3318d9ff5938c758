//! Punchlist over MCP: the only crate that knows the protocol or HTTP.
//!
//! A call arrives on standard input or over loopback HTTP, the [`Desk`] runs it on one thread in the order of arrival,
//! and a short text goes back. No rule about todos is decided here; nothing here prints, reads the command line or the
//! environment.

mod checks;
pub mod cost;
mod desk;
mod desk_thread;
pub mod guide;
pub mod hook;
mod http;
mod http_access;
mod identity;
mod log;
pub mod mend;
mod problem;
mod resources;
mod server;
mod stdio;
mod token;
mod watch;
pub mod wire;
pub mod wiring;

pub use desk::{Ask, Checked, Desk, Reading, Stopped};
pub use http::{Http, HttpError, loopback};
pub use identity::{Identity, Tag};
pub use log::Log;
pub use problem::Problem;
pub use punch_engine::{Group, Offer, Offered};
pub use server::{Server, Settings};
pub use stdio::stdio;
pub use token::{Token, TokenError};

mod project;
mod readings;
pub use project::{Opened, PlanDesk, Project};
