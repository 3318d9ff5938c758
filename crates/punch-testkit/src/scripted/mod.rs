//! A language model that follows a script, for running real coding agents offline, and an agent that follows one, for
//! running our side without any. Nothing in here is random: the same requests get the same answers.

mod agent;
mod answer;
mod asked;
mod form;
mod http;
mod play;
mod program;
mod programs;
mod report;
mod script;
mod server;
mod wire;

pub use agent::{Agent, Outside, Story};
pub use answer::{Answer, Called, Usage};
pub use asked::{Asked, Offered};
pub use form::{Form, Moment, Wish};
pub use program::exec_agent;
pub use programs::Programs;
pub use report::Report;
pub use script::{Call, Pattern, Script, Step, Track};
pub use server::{Options, Server};
pub use wire::Api;
