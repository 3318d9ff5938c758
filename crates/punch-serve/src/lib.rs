//! Punchlist over MCP: the only crate that knows the protocol. Its connections and limits serve the web board too.
//!
//! A call arrives on standard input or over loopback HTTP, the [`ToolService`] runs it on one thread in the order of arrival,
//! and a short text goes back. No rule about todos is decided here; nothing here prints, reads the command line or the
//! environment.

mod checks;
mod connections;
pub mod cost;
pub mod guide;
pub mod hook;
mod http;
mod http_access;
mod http_limits;
mod identity;
mod log;
mod problem;
mod resources;
mod server;
mod service;
mod service_thread;
mod stdio;
mod token;
mod watch;
pub mod wire;
pub mod wiring;
mod write_timeout;

pub use connections::{Peer, serve_with};
pub use http::{Http, HttpError, McpAccess, asked_to_end, loopback, mcp_route};
pub use http_access::{AmbiguousHeader, Denial, only_value};
pub use http_limits::HttpLimits;
pub use identity::{CallerIdentity, ConversationTag, TokenName};
pub use log::ServeLog;
pub use problem::ServeProblem;
pub use punch_engine::{OfferedTool, ToolGroup, ToolOffers};
pub use server::{Server, ServerSettings};
pub use service::{CheckResult, ClientGone, PlanResource, ToolRequest, ToolService};
pub use stdio::stdio;
pub use token::{Token, TokenError, new_secret, same_secret};

mod plan_follower;
mod plan_service;
mod read_cache;
pub use plan_service::{PlanToolService, ProjectStore, ServedProject};
