//! The list put back into a conversation that lost it, and plans offered to a new one.

use punch_core::drive::{self, Cover};
use punch_core::{Footprint, Kind, Plan, Todo, Uid};
use punch_store::Which;

use super::listen::{Listener, PlanSession};
use crate::call::names::Names;
use crate::{EngineError, offers};

/// Open todos that could ever fit into a text.
const LINES: usize = 120;

impl Listener<'_> {
    /// The session's open todos; from now on they are what it was shown (rules 8, 9).
    pub(super) fn put_back(&self, who: &mut PlanSession) -> Result<Option<String>, EngineError> {
        let row = self.snapshot.row()?;
        let changes = self.take_up_user_todos(who)?;
        let cover = who.cover();
        let mut beyond: Vec<Uid> = Vec::new();
        let (todos, open) = match &cover {
            Cover::Plan => (self.snapshot.list(Which::Open, None, LINES)?, row.counts.open()),
            Cover::List(uids) => {
                let mut slice = Plan::slice(row.clone());
                let todos = uids.iter().copied().collect();
                self.snapshot.load(&Footprint { todos, ..Footprint::default() }, &mut slice)?;
                let mut open: Vec<Todo> = slice.live().into_iter().filter(|t| t.status.is_open()).cloned().collect();
                let count = open.len() as u64;
                beyond = open.split_off(open.len().min(LINES)).iter().map(|t| t.uid).collect();
                (open, count)
            }
        };
        if open == 0 {
            return Ok(None);
        }
        let names = Names::of(&who.state);
        let current = self.current(who)?.map(|todo| names.labelled(todo));
        let todos: Vec<Todo> = todos.into_iter().map(|todo| names.labelled(todo)).collect();
        let (text, shown) = drive::put_back(&self.plan.name, &todos, open, current.as_ref(), self.now);
        let worker = who.state.role == crate::Role::Worker;
        let writer = &mut who.state;
        if let (Cover::List(_), false) = (&cover, worker) {
            // What is not in the text must not be archived by being left out of the next list.
            writer.scope = todos.iter().take(shown).map(|t| t.uid).collect();
            writer.beyond = todos.iter().skip(shown).map(|t| t.uid).chain(beyond).collect();
            crate::call::left_out(writer);
        }
        writer.shown = row.revision;
        if changes.values().flatten().all(|kind| *kind == Kind::Added) {
            // The list shows them; what was removed or changed is reported with the next message of the user.
            who.state.drive.told = row.revision;
        }
        Ok(Some(text))
    }

    /// The open todos for a conversation that was branched off another one: told, not shown (rule 8), because what it
    /// leaves out of a list of its own is the other one's.
    pub(super) fn branched(&self) -> Result<Option<String>, EngineError> {
        let open = self.snapshot.row()?.counts.open();
        if open == 0 {
            return self.offer();
        }
        let todos = self.snapshot.list(Which::Open, None, LINES)?;
        Ok(Some(drive::branched(&self.plan.name, &todos, open, self.now)))
    }

    /// Open plans, for a session that has none: offered, not shown.
    pub(super) fn offer(&self) -> Result<Option<String>, EngineError> {
        let row = self.snapshot.row()?;
        let mut plans = Vec::new();
        if row.counts.open() > 0 {
            plans.push((self.plan.name.clone(), row.counts.open(), row.counts.total()));
        }
        plans.extend_from_slice(self.others);
        if plans.is_empty() {
            return Ok(None);
        }
        let next = offers::best_free(self.snapshot, None, self.now)?;
        Ok(Some(drive::offer(&plans, next.as_ref())))
    }
}
