//! A language model that follows a script, for running real coding agents offline, and an agent that follows one, for
//! running our side without any. Nothing in here is random: the same requests get the same answers.

mod answer;
mod asked;
mod http;
mod play;
mod report;
mod script;
mod server;
mod wire;

pub use answer::{Answer, Called, Usage};
pub use asked::{Asked, Offered};
pub use report::Report;
pub use script::{Call, Pattern, Script, Step, Track};
pub use server::{Options, Server};
pub use wire::Api;
