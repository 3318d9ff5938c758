//! The parts of a plan that must be loaded before the rules can run.

use std::collections::BTreeSet;

use crate::{Op, Ref, Uid};

/// What must be loaded before an answer is possible.
pub type Need = Box<Footprint>;

/// A request for parts of a plan. Also records what a slice has loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Live todos by id (the answer may be that there is none).
    pub ids: BTreeSet<String>,
    /// Todos by uid.
    pub todos: BTreeSet<Uid>,
    /// All dependents of these todos.
    pub dependents: BTreeSet<Uid>,
    /// All todos in progress of these owners.
    pub running: BTreeSet<Option<String>>,
    /// All todos in progress, whoever owns them.
    pub all_running: bool,
    /// The first todo of the list.
    pub first: bool,
    /// All todos with a dangling dependency on these ids.
    pub dangling: BTreeSet<String>,
    /// The events of these revisions.
    pub revisions: BTreeSet<u64>,
    /// Everything.
    pub all: bool,
}

impl Footprint {
    /// The whole plan.
    pub fn everything() -> Self {
        Self { all: true, ..Self::default() }
    }

    /// Adds another request to this one.
    pub fn merge(&mut self, other: Self) {
        self.ids.extend(other.ids);
        self.todos.extend(other.todos);
        self.dependents.extend(other.dependents);
        self.running.extend(other.running);
        self.all_running |= other.all_running;
        self.first |= other.first;
        self.dangling.extend(other.dangling);
        self.revisions.extend(other.revisions);
        self.all |= other.all;
    }

    /// Everything that is missing at once, so that a slice is loaded in few rounds.
    pub fn gather<T>(answers: impl IntoIterator<Item = Result<T, Need>>) -> Result<(), Need> {
        let mut missing: Option<Need> = None;
        for need in answers.into_iter().filter_map(Result::err) {
            match &mut missing {
                Some(all) => all.merge(*need),
                None => missing = Some(need),
            }
        }
        missing.map_or(Ok(()), Err)
    }

    /// A first guess for a batch: what it names. `apply` asks for the rest as it meets it.
    pub fn of<'a>(ops: impl IntoIterator<Item = &'a Op>) -> Self {
        let mut out = Self::default();
        for op in ops {
            op.refs(&mut |r| match r {
                Ref::Id(id) => {
                    out.ids.insert(id.clone());
                }
                Ref::Uid(uid) => {
                    out.todos.insert(*uid);
                }
                Ref::New(_) => {}
            });
            if let Op::Undo { revision: Some(revision), .. } = op {
                out.revisions.insert(*revision);
            }
        }
        out
    }
}
