//! The ops: everything that can be requested of a plan. Every dialect translates its calls into ops.

use crate::{
    Complexity, Evidence, Extra, Flags, Hold, LabelEdit, Note, PhaseUid, Policy, Status, TodoProgress, Uid, Verify,
};

/// Names a todo inside a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ref {
    /// A todo by its id; ids that the same batch adds resolve too.
    Id(String),
    /// A todo by its uid, if the caller has seen the plan.
    Uid(Uid),
    /// The n-th [`Op::Add`] of this batch, counted from 0.
    New(usize),
}

/// Names a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PhaseRef {
    /// The first phase of that name, made if there is none; in [`Op::Phases`] always a new one, since names may repeat.
    Name(String),
    /// A phase by its uid.
    Uid(PhaseUid),
    /// The n-th entry of the batch's [`Op::Phases`].
    Index(usize),
}

/// A place in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListPosition {
    /// After everything.
    #[default]
    End,
    /// Before everything.
    First,
    /// Right before a todo.
    Before(Ref),
    /// Right after a todo.
    After(Ref),
}

/// Whether a field of an edit is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Keep<T> {
    /// Not given: the stored value stays.
    #[default]
    Keep,
    /// The new value.
    Set(T),
}

impl<T> Keep<T> {
    /// Takes an optional input: absent keeps.
    pub fn from_option(value: Option<T>) -> Self {
        value.map_or(Self::Keep, Self::Set)
    }

    /// The new value, if one is given.
    pub fn as_set(&self) -> Option<&T> {
        match self {
            Self::Keep => None,
            Self::Set(value) => Some(value),
        }
    }
}

/// Field updates. Edges are given as ids or references; statuses have ops of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// A new id.
    pub id: Keep<String>,
    /// A field of [`crate::Fields`] with the same name.
    pub content: Keep<String>,
    /// A field of [`crate::Fields`] with the same name.
    pub active_form: Keep<Option<String>>,
    /// A field of [`crate::Fields`] with the same name.
    pub description: Keep<Option<String>>,
    /// The whole set of dependencies.
    pub depends_on: Keep<Vec<Ref>>,
    /// Further dependents: these will depend on this todo (rule 21: edges are the union).
    pub blocks: Vec<Ref>,
    /// A field of [`crate::Fields`] with the same name.
    pub phase: Keep<Option<PhaseRef>>,
    /// A field of [`crate::Fields`] with the same name.
    pub priority: Keep<u8>,
    /// What becomes of the labels.
    pub labels: LabelEdit,
    /// A field of [`crate::Fields`] with the same name.
    pub complexity: Keep<Option<Complexity>>,
    /// A field of [`crate::Fields`] with the same name.
    pub estimated_tokens: Keep<Option<u64>>,
    /// A field of [`crate::Fields`] with the same name.
    pub criteria: Keep<Option<String>>,
    /// A field of [`crate::Fields`] with the same name.
    pub verify: Keep<Option<Verify>>,
    /// A field of [`crate::Fields`] with the same name.
    pub files: Keep<Vec<String>>,
    /// Hidden from default views since.
    pub hidden: Keep<Option<i64>>,
}

/// A new todo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Add {
    /// `None` makes the next `T-n`.
    pub id: Option<String>,
    /// Everything else that can be edited.
    pub edit: Edit,
    /// The place in the list.
    pub place: ListPosition,
    /// The status it comes in with; the gate applies.
    pub status: Status,
    /// A hold it comes in with.
    pub hold: Option<Hold>,
    /// Remarks it comes in with.
    pub notes: Vec<String>,
    /// What an import brings along of its earlier life.
    pub carried: Option<Box<CarriedHistory>>,
}

/// History that an import carries, so that export and import are the identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CarriedHistory {
    /// Remarks with their time and author; used instead of [`Add::notes`].
    pub notes: Vec<Note>,
    /// A field of [`crate::Fields`] with the same name.
    pub evidence: Vec<Evidence>,
    /// A field of [`crate::Fields`] with the same name.
    pub actual_tokens: u64,
    /// A field of [`crate::Fields`] with the same name.
    pub attempts: u32,
    /// A field of [`crate::Fields`] with the same name.
    pub last_error: Option<String>,
    /// A field of [`crate::Fields`] with the same name; `None` is now.
    pub created_at: Option<i64>,
    /// A field of [`crate::Fields`] with the same name.
    pub started_at: Option<i64>,
    /// A field of [`crate::Fields`] with the same name.
    pub finished_at: Option<i64>,
    /// A field of [`crate::Fields`] with the same name.
    pub extra: Option<Extra>,
    /// A field of [`crate::Fields`] with the same name.
    pub flags: Flags,
}

/// One thing asked of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// A new todo.
    Add(Add),
    /// Change fields or edges.
    Edit(Ref, Edit),
    /// Begin work.
    Start(Ref),
    /// Begin work under a lease: new fence, `lease_until` in ms.
    Claim(Ref, i64),
    /// Lengthen a lease (no event).
    Renew(Ref, i64),
    /// Give a claim back: pending again, marked to be resumed, free for anyone.
    Unclaim(Ref),
    /// Pass one's own claim to another name of the same session; lease and fence stay.
    HandOver(Ref, String),
    /// Finish; `fence` is what the worker was given.
    Done {
        /// The todo.
        target: Ref,
        /// The evidence for the completion.
        evidence: Option<Evidence>,
        /// The fence of the claim the answer belongs to.
        fence: Option<u64>,
    },
    /// The worker of a runner says that it is done: evidence and a mark, and its status does not change.
    Report {
        /// The todo.
        target: Ref,
        /// The evidence for the report.
        evidence: Option<Evidence>,
        /// The fence of the claim the answer belongs to.
        fence: Option<u64>,
    },
    /// Confirm or revoke a completion; the status of the todo does not change.
    Vouch {
        /// The todo.
        target: Ref,
        /// True if the completion is no longer valid.
        stale: bool,
        /// The evidence for or against the completion.
        evidence: Option<Evidence>,
    },
    /// Record what a check of an open todo found; its status does not change.
    RecordCheck {
        /// The todo.
        target: Ref,
        /// The command, how it ended, and the end of its output.
        found: Evidence,
    },
    /// Record that the check contradicts an agent that called the todo done: stores what the check found, ends the report
    /// and counts an attempt. Its status does not change.
    Refute {
        /// The todo.
        target: Ref,
        /// The command, how it ended, and the end of its output.
        found: Evidence,
    },
    /// Restore the work on a todo to an earlier state.
    Restore {
        /// The todo.
        target: Ref,
        /// The state of the work to restore.
        work: Box<TodoProgress>,
    },
    /// Give up on purpose.
    Drop(Ref),
    /// Report a failed attempt.
    Fail(Ref, String),
    /// Open again.
    Reopen(Ref),
    /// Put on hold; `by` and `at` are filled in.
    Hold(Ref, Hold),
    /// End the hold.
    Release(Ref),
    /// Said to be blocked: pending, and on hold if nothing it depends on is unmet when the batch ends (rule 2).
    Block(Ref),
    /// Archive.
    Rm(Ref),
    /// Append a remark.
    Note(Ref, String),
    /// Change the place in the list.
    Move(Ref, ListPosition),
    /// Bring these todos into this order, touching as few positions as possible.
    Arrange(Vec<Ref>),
    /// The whole list of phases: kept ones by uid, new ones by name. Todos of dropped phases lose their phase.
    Phases(Vec<PhaseRef>),
    /// Replace the plan's policy.
    SetPolicy(Policy),
    /// Undo one revision, as a new revision. Must be the only op of its batch.
    Undo {
        /// The revision, by any actor. Without one: the latest change of the actor that is still in force.
        revision: Option<u64>,
        /// Without a revision: the latest change that is still in force, by any actor.
        any: bool,
    },
    /// Undo the actor's latest undo that is still in force. Must be the only op of its batch.
    Redo,
}

impl Op {
    /// Calls `f` with every todo the op names.
    pub fn refs<'a>(&'a self, f: &mut dyn FnMut(&'a Ref)) {
        fn place<'a>(place: &'a ListPosition, f: &mut dyn FnMut(&'a Ref)) {
            if let ListPosition::Before(r) | ListPosition::After(r) = place {
                f(r);
            }
        }
        fn edit<'a>(edit: &'a Edit, f: &mut dyn FnMut(&'a Ref)) {
            if let Keep::Set(deps) = &edit.depends_on {
                deps.iter().for_each(&mut *f);
            }
            edit.blocks.iter().for_each(&mut *f);
        }
        match self {
            Self::Add(add) => {
                edit(&add.edit, f);
                place(&add.place, f);
            }
            Self::Edit(r, e) => {
                f(r);
                edit(e, f);
            }
            Self::Move(r, p) => {
                f(r);
                place(p, f);
            }
            Self::Arrange(order) => order.iter().for_each(f),
            Self::Start(r)
            | Self::Claim(r, _)
            | Self::Renew(r, _)
            | Self::Unclaim(r)
            | Self::HandOver(r, _)
            | Self::Done { target: r, .. }
            | Self::Vouch { target: r, .. }
            | Self::Report { target: r, .. }
            | Self::RecordCheck { target: r, .. }
            | Self::Refute { target: r, .. }
            | Self::Restore { target: r, .. }
            | Self::Drop(r)
            | Self::Fail(r, _)
            | Self::Reopen(r)
            | Self::Hold(r, _)
            | Self::Release(r)
            | Self::Block(r)
            | Self::Rm(r)
            | Self::Note(r, _) => f(r),
            Self::Phases(_) | Self::SetPolicy(_) | Self::Undo { .. } | Self::Redo => {}
        }
    }
}
