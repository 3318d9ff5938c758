//! Punchlist in a browser: the web board, the HTTP API `/api/v1` and its stream of changes. It has no rules of its own:
//! rows come from the views of the core, and changes take the same path as all others.

mod access;
mod around;
mod assign;
mod context;
mod dispatch;
mod feed;
mod feeds;
mod frame;
pub mod markdown;
mod metrics;
pub mod openapi;
mod operation;
mod page;
mod plans;
mod problem;
mod query;
mod read;
pub mod report;
mod request_log;
mod routes;
mod runs;
mod schema;
mod server;
mod setup;
mod shared_store;
mod stream;
mod write;

pub use access::{NewToken, StoredToken, TokenFile, TokenFileError, TokenRole};
pub use problem::ApiProblem;
pub use request_log::{RequestLog, RequestRecord};
pub use server::{Bound, ListenAddress, ListeningBoard, PORT, ServedBoard, StartedBy, WebError};
pub use setup::{FindWorktree, ListAgents, LogFinder, OpenStore, RunWorktree, StartAgent, WebSetup};
