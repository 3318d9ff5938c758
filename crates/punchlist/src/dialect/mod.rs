//! Arguments and answers of the todo tools as types, for hosts with tool registries of their own. They serialize to what the
//! tools take, and deserialize from what models send and [`crate::Answer::structured`] holds. Lenient where the tools are:
//! unknown keys are ignored.
//!
//! ```
//! use punchlist::dialect::todowrite::{Answer, Call, Item, Status};
//! use punchlist::{Dialect, Options, Session};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session::in_memory(Options::new("my-agent").dialect(Dialect::Todowrite))?;
//! let item = Item { content: "Run tests".into(), status: Status::InProgress, active_form: "Running tests".into() };
//! let call = serde_json::to_value(Call { todos: vec![item] })?;
//! let answer: Answer = serde_json::from_value(session.call("TodoWrite", &call)?.structured)?;
//! assert_eq!(answer.items[0].status, Status::InProgress);
//! # Ok(())
//! # }
//! ```

pub mod checkpoint;
pub mod claim;
pub mod cursor;
pub mod extended;
pub mod native;
pub mod phases;
pub mod read;
pub mod refused;
pub mod todowrite;
