//! `punch note`: append a remark to a todo.

use clap::Args;
use punch_core::Op;
use serde_json::json;

use crate::failure::Failure;
use crate::named_todos::{act, native};
use crate::project::Project;
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch note T-3 the flag is called --frozen";

/// The arguments of `punch note`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct NoteArgs {
    /// An id, or a part of the text
    #[arg(value_name = "TODO")]
    todo: String,
    /// The note
    #[arg(required = true, value_name = "TEXT", allow_hyphen_values = true)]
    text: Vec<String>,
}

impl NoteArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let ops = native(&project, json!({"op": "note", "id": self.todo, "text": self.text.join(" ")}))?;
        act(project, &[self.todo], &|refs| {
            let note = |op: &Op| match (op, refs.first()) {
                (Op::Note(_, text), Some(r)) => Op::Note(r.clone(), text.clone()),
                (other, _) => other.clone(),
            };
            ops.iter().map(note).collect()
        })
    }
}
