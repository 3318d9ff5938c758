//! Texts for a model other than answers. They belong to the host: the defaults name no command, and a trait replaces
//! them.

use punch_core::Dialect;
use punch_core::drive::NamedTodo;
use serde::{Deserialize, Serialize};

/// The todo that an agent continues with. Its text is untrusted.
pub type NextTodo = NamedTodo;

/// Why an agent is sent back to work, and the default text for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Continuation {
    /// The default text: short, with the todo quoted as data.
    pub text: String,
    /// The todo to continue with.
    pub next: NextTodo,
    /// How many todos are open.
    pub open: u64,
    /// How many there are, without parked ones.
    pub total: u64,
    /// The number of the continuation, counted by the limit that will end the loop first.
    pub n: u32,
    /// How many there may be by that limit.
    pub of: u32,
}

/// What a text besides the answers is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Occasion {
    /// A turn begins: the list of a conversation that is resumed, or what others changed.
    TurnStarted,
    /// A tool has answered: the list was not touched for long.
    ToolEnded,
    /// A tool has failed while a todo is in progress.
    ToolFailed,
    /// A call of a todo tool was answered.
    Called,
    /// Something else was reported.
    Reported,
}

/// Replaces the texts that a session gives to a model. Every method has a default that keeps the text.
///
/// ```
/// use punchlist::{Continuation, Finish, Next, Op, Options, Session, Wording};
///
/// struct Brief;
///
/// impl Wording for Brief {
///     fn continuation(&self, why: &Continuation) -> String {
///         format!("{} of {} left. Next: {}", why.open, why.total, why.next.content)
///     }
/// }
///
/// # fn main() -> Result<(), punchlist::Error> {
/// let session = Session::in_memory(Options::new("my-agent").wording(Brief))?;
/// session.call("todo_write", &serde_json::json!({"ops": [{"op": "add", "content": "Write the parser"}]}))?;
/// let Next::Continue { text, .. } = session.turn_ended(Finish::EndTurn)? else { panic!() };
/// assert_eq!(text, "1 of 1 left. Next: Write the parser");
/// # Ok(())
/// # }
/// ```
pub trait Wording: Send + Sync {
    /// The message that sends the model back to work. Todo text is untrusted: quote it.
    fn continuation(&self, why: &Continuation) -> String {
        why.text.clone()
    }

    /// A text besides the answers; `None` leaves it out.
    fn reminder(&self, _occasion: Occasion, text: String) -> Option<String> {
        Some(text)
    }

    /// The first message of a subagent that was assigned todos.
    fn assignment(&self, text: String) -> String {
        text
    }

    /// The lines about the list for a system prompt.
    fn instructions(&self, _dialect: Dialect, text: String) -> String {
        text
    }
}

/// The default words.
pub(crate) struct DefaultWording;

impl Wording for DefaultWording {}
