//! The `phases` dialect: an ordered list of phases with tasks that are named by their content.
//!
//! Everything here works on the list as that format sees it; the uids ride along so that the result can be compared
//! with the plan it came from. Strings follow JavaScript where the format was made with it: `\s`, `.`, `trim`, one
//! UTF-16 unit.

mod call;
mod coerce;
mod command;
mod find;
mod list;
mod markdown;
mod normal;
mod project;
mod replay;
mod step;
mod summary;
mod work;

pub use super::list::policy;
pub use call::{PhaseInput, PhaseOp, PhasesTarget, parse_ops, parse_params};
pub use coerce::coerce;
pub use command::{CommandOutput, CommandReply, FileEffect, exported, finish_import, run};
pub use list::{PhaseTask, TaskPhase, phases_from_json, phases_to_json, status_name};
pub use markdown::{MarkdownPhases, read, write};
pub use normal::{FinishedTask, completions, normalise};
pub use project::{project, to_list};
pub use replay::{answer_json, markdown_answer, rejected_json, said_json};
pub use step::{PhasesAnswer, step};
pub use summary::summary;
