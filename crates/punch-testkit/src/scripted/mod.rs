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

pub use agent::{AgentStory, Outside, ScriptedAgent};
pub use answer::{ModelTurn, RequestTokens, ScriptedToolUse};
pub use asked::{ModelRequest, ToolOffer};
pub use form::{AgentHookForm, HookWish, Moment};
pub use program::exec_agent;
pub use programs::PunchPrograms;
pub use report::ScriptReport;
pub use script::{AgentScript, Pattern, ScriptStep, ScriptedCall, Track};
pub use server::{ScriptedServer, ServerOptions};
pub use wire::ModelApi;
