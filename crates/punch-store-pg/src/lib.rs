//! Plans in PostgreSQL, for teams and fleets that share one database. Keeps the promises of [`punch_store::Store`] in the
//! same way as the backends in `punch-store`: the first statement of a write locks the row of its plan, so that writers of
//! one plan come one after the other and no write is ever run twice.
//!
//! Nothing here reads the environment: addresses, passwords and paths come from the caller.

mod activity;
mod address;
mod answer;
mod check;
mod clock;
mod clone_facts;
mod control;
mod escape;
mod events;
mod executor;
mod fail;
mod fetch;
mod hand_out;
mod handshake;
mod known;
mod ledger;
mod link;
mod load;
mod login;
mod question;
mod read;
mod reader;
mod schema;
mod settle;
mod socket;
mod store;
mod tls;
mod todo;
mod tools;
mod transport;
mod unsent;
mod value;
mod view;
mod watch;
mod wire;
mod worker;
mod write;

pub use login::Login;
pub use store::{PgOptions, PgStore, open};
