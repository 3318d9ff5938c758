//! Ops with which a host changes a plan, as types instead of JSON.

use std::time::Duration;

use punch_core::{Add, Edit, Evidence, Hold, HoldKind, Keep, Label, LabelEdit, ListPosition, PhaseRef, Ref, Verify};

use crate::Error;

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

    /// Changes what is to be done.
    pub fn rename(id: impl Into<String>, content: impl Into<String>) -> Self {
        Self::edit(id, Edit { content: Keep::Set(content.into()), ..Edit::default() })
    }

    /// Changes the priority: 1 comes first, 3 is usual, 5 is optional work.
    pub fn prioritize(id: impl Into<String>, priority: u8) -> Self {
        Self::edit(id, Edit { priority: Keep::Set(priority), ..Edit::default() })
    }

    /// Replaces the dependencies of a todo.
    pub fn depend<D: Into<String>>(id: impl Into<String>, on: impl IntoIterator<Item = D>) -> Self {
        Self::edit(id, Edit { depends_on: Keep::Set(refs(on)), ..Edit::default() })
    }

    /// Moves a todo in the list, right before another one.
    pub fn move_before(id: impl Into<String>, other: impl Into<String>) -> Self {
        Self::core(punch_core::Op::Move(Ref::Id(id.into()), ListPosition::Before(Ref::Id(other.into()))))
    }

    fn edit(id: impl Into<String>, edit: Edit) -> Self {
        Self::core(punch_core::Op::Edit(Ref::Id(id.into()), edit))
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
        })
    }
}

/// A new todo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewTodo {
    id: Option<String>,
    content: String,
    active_form: Option<String>,
    description: Option<String>,
    after: Vec<String>,
    phase: Option<String>,
    priority: Option<u8>,
    labels: Vec<String>,
    estimated_tokens: Option<u64>,
    criteria: Option<String>,
    verify: Option<String>,
    files: Vec<String>,
}

impl NewTodo {
    /// A todo that says what is to be done.
    pub fn new(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// Its id; without one it gets the next `T-n`.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The words that a UI shows while it is in progress.
    #[must_use]
    pub fn active_form(mut self, text: impl Into<String>) -> Self {
        self.active_form = Some(text.into());
        self
    }

    /// What else is worth knowing about it.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// The todos that must be completed first.
    #[must_use]
    pub fn after<D: Into<String>>(mut self, ids: impl IntoIterator<Item = D>) -> Self {
        self.after.extend(ids.into_iter().map(Into::into));
        self
    }

    /// The phase it belongs to, made if there is none of that name.
    #[must_use]
    pub fn phase(mut self, name: impl Into<String>) -> Self {
        self.phase = Some(name.into());
        self
    }

    /// Its priority: 1 comes first, 3 is usual, 5 is optional work.
    #[must_use]
    pub fn priority(mut self, priority: u8) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Labels.
    #[must_use]
    pub fn labels<L: Into<String>>(mut self, labels: impl IntoIterator<Item = L>) -> Self {
        self.labels.extend(labels.into_iter().map(Into::into));
        self
    }

    /// How many tokens the work may take.
    #[must_use]
    pub fn estimated_tokens(mut self, tokens: u64) -> Self {
        self.estimated_tokens = Some(tokens);
        self
    }

    /// When it counts as done.
    #[must_use]
    pub fn criteria(mut self, text: impl Into<String>) -> Self {
        self.criteria = Some(text.into());
        self
    }

    /// The command that proves it, as a line for the shell.
    #[must_use]
    pub fn verify(mut self, command: impl Into<String>) -> Self {
        self.verify = Some(command.into());
        self
    }

    /// The files it will touch.
    #[must_use]
    pub fn files<F: Into<String>>(mut self, files: impl IntoIterator<Item = F>) -> Self {
        self.files.extend(files.into_iter().map(Into::into));
        self
    }

    fn to_core(&self) -> Result<Add, Error> {
        let edit = Edit {
            content: Keep::Set(self.content.clone()),
            active_form: Keep::from_option(self.active_form.clone().map(Some)),
            description: Keep::from_option(self.description.clone().map(Some)),
            depends_on: Keep::Set(refs(&self.after)),
            phase: Keep::from_option(self.phase.clone().map(|name| Some(PhaseRef::Name(name)))),
            priority: Keep::from_option(self.priority),
            labels: match self.labels.is_empty() {
                true => LabelEdit::Keep,
                false => LabelEdit::Set(Label::parse_all(self.labels.iter().map(String::as_str))?),
            },
            estimated_tokens: Keep::from_option(self.estimated_tokens.map(Some)),
            criteria: Keep::from_option(self.criteria.clone().map(Some)),
            verify: Keep::from_option(self.verify.clone().map(|line| Some(Verify::Shell(line)))),
            files: match self.files.is_empty() {
                true => Keep::Keep,
                false => Keep::Set(self.files.clone()),
            },
            ..Edit::default()
        };
        Ok(Add { id: self.id.clone(), edit, ..Add::default() })
    }
}

impl From<&str> for NewTodo {
    fn from(content: &str) -> Self {
        Self::new(content)
    }
}

impl From<String> for NewTodo {
    fn from(content: String) -> Self {
        Self::new(content)
    }
}

fn refs<D: Into<String>>(ids: impl IntoIterator<Item = D>) -> Vec<Ref> {
    ids.into_iter().map(|id| Ref::Id(id.into())).collect()
}
