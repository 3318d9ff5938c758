//! Ops with which a host changes a plan, as types instead of JSON.

use std::time::Duration;

use punch_core::dialect::native::ReportedTokens;
use punch_core::{Edit, Evidence, Hold, HoldKind, Label, LabelEdit, ListPosition, Ref};

use crate::{Error, NewTodo, TodoEdit};

/// One thing asked of a plan. Todos are named by their ids; ids that the same batch adds resolve too.
///
/// ```
/// # use punchlist::{NewTodo, Op, Options, Session};
/// # fn main() -> Result<(), punchlist::Error> {
/// let session = Session::in_memory(Options::new("my-agent"))?;
/// let applied = session.apply(&[
///     Op::add(NewTodo::new("Write the parser").id("parse")),
///     Op::add(NewTodo::new("Test it").after(["parse"])),
///     Op::start("parse"),
/// ])?;
/// assert_eq!(applied.added, ["parse", "T-1"]);
/// let refused = session.apply(&[Op::done("nothing")]).unwrap_err();
/// assert_eq!(refused.code, "unknown_todo");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op(OpRequest);

#[derive(Clone, Debug, PartialEq, Eq)]
enum OpRequest {
    Core(Box<punch_core::Op>),
    /// A hold that ends after some time: the clock is the session's.
    HoldFor(String, String, Duration),
    /// Labels, which are checked when they are applied.
    Label(String, Vec<String>, Vec<String>),
    Add(Box<NewTodo>),
    Edit(String, Box<TodoEdit>),
    /// A completion with the tokens that the work took.
    DoneWithUsage(String, u64),
}

impl Op {
    fn core(op: punch_core::Op) -> Self {
        Self(OpRequest::Core(Box::new(op)))
    }

    /// Adds a todo.
    pub fn add(todo: impl Into<NewTodo>) -> Self {
        Self(OpRequest::Add(Box::new(todo.into())))
    }

    /// Begins work.
    pub fn start(id: impl Into<String>) -> Self {
        Self::core(punch_core::Op::Start(Ref::Id(id.into())))
    }

    /// Finishes a todo.
    pub fn done(id: impl Into<String>) -> Self {
        Self::core(punch_core::Op::Done { target: Ref::Id(id.into()), evidence: None, fence: None })
    }

    /// Finishes a todo with evidence.
    pub fn done_with(id: impl Into<String>, evidence: impl Into<String>) -> Self {
        let evidence = Some(Evidence { text: Some(evidence.into()), ..Evidence::default() });
        Self::core(punch_core::Op::Done { target: Ref::Id(id.into()), evidence, fence: None })
    }

    /// Finishes a todo and reports how many tokens the work took, for the calibration of estimates. It counts unless the use
    /// of tokens is measured.
    pub fn done_with_usage(id: impl Into<String>, tokens: u64) -> Self {
        Self(OpRequest::DoneWithUsage(id.into(), tokens))
    }

    /// Reports a failed attempt. The first one puts the todo back to pending for one retry, the second one marks it failed.
    pub fn fail(id: impl Into<String>, why: impl Into<String>) -> Self {
        Self::core(punch_core::Op::Fail(Ref::Id(id.into()), why.into()))
    }

    /// Gives a todo up on purpose.
    pub fn cancel(id: impl Into<String>) -> Self {
        Self::core(punch_core::Op::Drop(Ref::Id(id.into())))
    }

    /// Opens a closed todo again.
    pub fn reopen(id: impl Into<String>) -> Self {
        Self::core(punch_core::Op::Reopen(Ref::Id(id.into())))
    }

    /// Puts a todo on hold until it is released: it waits for the user.
    pub fn hold(id: impl Into<String>, why: impl Into<String>) -> Self {
        let hold = Hold { kind: HoldKind::Human, reason: why.into(), until: None, by: String::new(), at: 0 };
        Self::core(punch_core::Op::Hold(Ref::Id(id.into()), hold))
    }

    /// Puts a todo on hold for some time.
    pub fn hold_for(id: impl Into<String>, why: impl Into<String>, time: Duration) -> Self {
        Self(OpRequest::HoldFor(id.into(), why.into(), time))
    }

    /// Ends the hold of a todo.
    pub fn release(id: impl Into<String>) -> Self {
        Self::core(punch_core::Op::Release(Ref::Id(id.into())))
    }

    /// Gives a claim back, so that anyone may take the todo.
    pub fn unclaim(id: impl Into<String>) -> Self {
        Self::core(punch_core::Op::Unclaim(Ref::Id(id.into())))
    }

    /// Appends a note.
    pub fn note(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::core(punch_core::Op::Note(Ref::Id(id.into()), text.into()))
    }

    /// Archives a todo.
    pub fn remove(id: impl Into<String>) -> Self {
        Self::core(punch_core::Op::Rm(Ref::Id(id.into())))
    }

    /// Puts labels on a todo.
    pub fn label<L: Into<String>>(id: impl Into<String>, labels: impl IntoIterator<Item = L>) -> Self {
        Self(OpRequest::Label(id.into(), labels.into_iter().map(Into::into).collect(), Vec::new()))
    }

    /// Takes labels off a todo.
    pub fn unlabel<L: Into<String>>(id: impl Into<String>, labels: impl IntoIterator<Item = L>) -> Self {
        Self(OpRequest::Label(id.into(), Vec::new(), labels.into_iter().map(Into::into).collect()))
    }

    /// Changes fields of a todo, those that the edit names and no others.
    ///
    /// ```
    /// # use punchlist::{Complexity, Op, Options, Session, TodoEdit};
    /// # fn main() -> Result<(), punchlist::Error> {
    /// let session = Session::in_memory(Options::new("my-agent"))?;
    /// session.apply(&[Op::add("Write the parser")])?;
    /// session.apply(&[Op::edit("T-1", TodoEdit::new().criteria("All tests pass").complexity(Complexity::Large))])?;
    /// session.apply(&[Op::edit("T-1", TodoEdit::new().complexity(None))])?;
    /// let todo = &session.todos()?[0];
    /// assert_eq!((todo.verification_criteria.as_deref(), todo.complexity), (Some("All tests pass"), None));
    /// # Ok(())
    /// # }
    /// ```
    pub fn edit(id: impl Into<String>, edit: TodoEdit) -> Self {
        Self(OpRequest::Edit(id.into(), Box::new(edit)))
    }

    /// Changes what is to be done.
    pub fn rename(id: impl Into<String>, content: impl Into<String>) -> Self {
        Self::edit(id, TodoEdit::new().content(content))
    }

    /// Changes the priority: 1 comes first, 3 is usual, 5 is optional work.
    pub fn prioritize(id: impl Into<String>, priority: u8) -> Self {
        Self::edit(id, TodoEdit::new().priority(priority))
    }

    /// Replaces the dependencies of a todo.
    pub fn depend<D: Into<String>>(id: impl Into<String>, on: impl IntoIterator<Item = D>) -> Self {
        Self::edit(id, TodoEdit::new().after(on))
    }

    /// Moves a todo in the list, right before another one.
    pub fn move_before(id: impl Into<String>, other: impl Into<String>) -> Self {
        Self::core(punch_core::Op::Move(Ref::Id(id.into()), ListPosition::Before(Ref::Id(other.into()))))
    }

    /// The tokens that the op reports.
    pub(crate) fn usage(&self) -> Option<ReportedTokens> {
        match &self.0 {
            OpRequest::DoneWithUsage(id, tokens) => {
                Some(ReportedTokens { ids: vec![id.clone()], failed: false, tokens: *tokens })
            }
            _ => None,
        }
    }

    pub(crate) fn to_core(&self, now: i64) -> Result<punch_core::Op, Error> {
        Ok(match &self.0 {
            OpRequest::Core(op) => (**op).clone(),
            OpRequest::HoldFor(id, why, time) => {
                let until = now.saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
                let hold =
                    Hold { kind: HoldKind::Timer, reason: why.clone(), until: Some(until), by: String::new(), at: 0 };
                punch_core::Op::Hold(Ref::Id(id.clone()), hold)
            }
            OpRequest::Label(id, add, remove) => {
                let parse = |words: &[String]| Label::parse_all(words.iter().map(String::as_str));
                let labels = LabelEdit::Change { add: parse(add)?, remove: parse(remove)? };
                punch_core::Op::Edit(Ref::Id(id.clone()), Edit { labels, ..Edit::default() })
            }
            OpRequest::Add(todo) => punch_core::Op::Add(todo.to_core()?),
            OpRequest::Edit(id, edit) => punch_core::Op::Edit(Ref::Id(id.clone()), edit.to_core()?),
            OpRequest::DoneWithUsage(id, _) => {
                punch_core::Op::Done { target: Ref::Id(id.clone()), evidence: None, fence: None }
            }
        })
    }
}
