//! Punchlist for people who write their own agent.
//!
//! A [`Session`] is one conversation of one agent with the plan of a store. It gives you the tool definitions to send
//! to a model, runs the calls that come back, says when the model should be reminded of its list, and decides at the
//! end of a turn whether the agent may stop. Nothing here prints, reads the environment or calls a model.
//!
//! ```
//! use punchlist::{Finish, Next, Options, Session, Shape};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), punchlist::Error> {
//! let session = Session::in_memory(Options::new("my-agent"))?;
//! let tools = session.tools(Shape::OpenAi); // for the request to your model
//! assert_eq!(tools[0]["function"]["name"], "todo_write");
//!
//! session.turn_started()?; // the user said something
//! let answer = session.call("todo_write", &json!({"ops": [
//!     {"op": "add", "id": "parse", "content": "Write the parser"},
//!     {"op": "add", "content": "Test it", "dependsOn": ["parse"]},
//! ]}))?;
//! assert!(!answer.is_error);
//!
//! // The model wants to stop, and work is left: continue with this text.
//! let Next::Continue { text, .. } = session.turn_ended(Finish::EndTurn)? else { panic!() };
//! assert!(text.contains("Write the parser"));
//!
//! session.call("todo_write", &json!({"ops": [{"op": "done", "id": "parse"}, {"op": "done", "id": "T-1"}]}))?;
//! let Next::Stop(reason) = session.turn_ended(Finish::EndTurn)? else { panic!() };
//! assert_eq!(reason.code(), "finished");
//! # Ok(())
//! # }
//! ```
//!
//! `examples/agent` is a whole small agent: a streaming endpoint, a shell, edits, and a loop that ends when the plan
//! does.

mod answer;
mod apply;
#[cfg(feature = "async")]
mod asynchronous;
mod call;
mod change;
mod checks;
pub mod dialect;
mod error;
mod events;
mod hint;
mod history;
mod inbox;
mod message;
mod op;
mod opened_store;
mod options;
mod planning;
mod question;
mod session;
mod snapshot;
pub mod store;
mod todo_edit;
mod todo_list;
mod tools;
mod turn;
mod views;
mod wording;

pub use answer::Answer;
pub use apply::{Applied, Import};
#[cfg(feature = "async")]
pub use asynchronous::{AsyncSession, EventStream, Running};
pub use change::Change;
pub use error::Error;
pub use events::{Closer, Event, Events, Touched, Update, Watching};
pub use history::trim_history;
pub use inbox::InboxItem;
pub use op::Op;
pub use options::Options;
pub use planning::{Checkpoint, RestoreReport};
pub use question::{Question, Reply};
pub use session::Session;
pub use snapshot::SessionSnapshot;
pub use todo_edit::{NewTodo, TodoEdit};
pub use todo_list::TodoList;
pub use tools::{Shape, tools};
pub use turn::{Ending, Next, finish};
pub use views::View;
pub use wording::{Continuation, NextTodo, Occasion, Wording};

pub use punch_core::drive::{
    Block, CommandRun, ContextUse, Finish, HostEvent, Reason, Roots, SessionStart, ToolKind, ToolUse,
};
pub use punch_core::inbox::InboxKind;
pub use punch_core::reason::Cause;
pub use punch_core::schedule::{
    Batch, Blocked, Break, Estimate, ParallelGroup, Schedule, ScheduleOrder, ScheduleRequest, Slot, Window,
};
pub use punch_core::view::{Glyphs, Panel, Progress};
pub use punch_core::{
    Complexity, Dialect, EventKind, Evidence, Extra, Flags, Format, Hold, HoldKind, Label, Lists, Marks, Observed,
    Proof, Record, RecordStatus, Remark, Status, TodoProgress, Verify,
};
pub use punch_engine::call::CallError;
pub use punch_engine::{CheckpointReason, Clock, GitState, QuestionOption, Role, ToolGroup, Verification};
pub use serde_json;
