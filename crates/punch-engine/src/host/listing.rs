//! The list as text: restored in a conversation that lost it, and the plans offered to a new one.

use punch_core::drive::{self, Cover, ListWords};
use punch_core::reason::PlanReader;
use punch_core::view::Progress;
use punch_core::{Footprint, Plan, Todo, Uid};
use punch_store::{ListMark, Which};

use super::listen::{Listener, PlanSession, ReportOutcome};
use super::naming::TodoNaming;
use crate::call::is_mirrored;
use crate::call::names::SessionNames;
use crate::{EngineError, OfferedElsewhere, ReadyQuery, load_reasons};

/// Open todos that could ever fit into a text.
const LINES: usize = 120;

/// Pages of open todos that are read at most, where many are parked.
const PAGES: usize = 10;

impl Listener<'_> {
    /// The session's open todos; from now on they are what it was shown (rules 8, 9).
    pub(super) fn put_back(
        &self,
        who: &mut PlanSession,
        outcome: &mut ReportOutcome,
    ) -> Result<Option<String>, EngineError> {
        let row = self.snapshot.row()?;
        let informing = self.informing();
        let since = who.state.informed();
        let found = informing.uninformed(&who.state, since)?;
        informing.take_up(&mut who.state, &found)?;
        who.state.drive.told = found.until;
        // The list shows todos that were added; other changes have to be mentioned.
        outcome.notice = match found.is_in_list() {
            true => {
                who.state.unnamed.clear();
                None
            }
            false => found.notice(&mut who.state, since),
        };
        let notice = outcome.notice.as_ref().map(|notice| notice.text.clone());
        let cover = who.cover();
        let (mut beyond, mut closed): (Vec<Uid>, Vec<Uid>) = (Vec::new(), Vec::new());
        let (todos, open) = match &cover {
            Cover::Plan => (self.work()?, row.counts.open()),
            Cover::List(uids) => {
                let mut slice = Plan::slice(row.clone());
                let todos = uids.iter().copied().collect();
                self.snapshot.load(&Footprint { todos, ..Footprint::default() }, &mut slice)?;
                let mut open: Vec<Todo> =
                    slice.live().into_iter().filter(|t| t.status.is_open() && !t.is_parked()).cloned().collect();
                let count = open.iter().filter(|todo| todo.is_open_work()).count() as u64;
                if is_mirrored(&who.state) {
                    // They still say how far the work is. A copy of a host's list leaves them alone.
                    closed.extend(slice.live().into_iter().filter(|t| !t.status.is_open()).map(|t| t.uid));
                }
                beyond = open.split_off(open.len().min(LINES)).iter().map(|t| t.uid).collect();
                (open, count)
            }
        };
        if open == 0 {
            return Ok(notice);
        }
        let names = SessionNames::of(&who.state);
        let words = TodoNaming::of(&who.state, self.settings).list_words(self.settings);
        let current = self.current(who)?.map(|todo| names.labelled(todo));
        let todos: Vec<Todo> = todos.into_iter().map(|todo| names.labelled(todo)).collect();
        let part = self.around(&todos)?;
        let reader = PlanReader::new(&part, self.now);
        let (text, shown) = drive::put_back(&self.plan.name, reader, &todos, open, current.as_ref(), words);
        let worker = who.state.role == crate::Role::Worker;
        let writer = &mut who.state;
        if let (Cover::List(_), false) = (&cover, worker) {
            // What is not in the text must not be archived by being left out of the next list.
            writer.scope = closed.into_iter().chain(todos.iter().take(shown).map(|t| t.uid)).collect();
            writer.beyond = todos.iter().skip(shown).map(|t| t.uid).chain(beyond).collect();
            crate::call::left_out(writer);
        }
        writer.shown = row.revision;
        Ok(Some(notice.map_or_else(|| text.clone(), |notice| format!("{text}\n{notice}"))))
    }

    /// The first open todos that are not parked, in list order.
    fn work(&self) -> Result<Vec<Todo>, EngineError> {
        let (mut todos, mut after) = (Vec::new(), None);
        for _ in 0..PAGES {
            let page = self.snapshot.list(Which::Open, after, LINES)?;
            let is_last = page.len() < LINES;
            after = page.last().map(ListMark::of);
            todos.extend(page.into_iter().filter(|todo| !todo.is_parked()));
            if is_last || todos.len() >= LINES {
                break;
            }
        }
        todos.truncate(LINES);
        Ok(todos)
    }

    /// The open todos for a conversation that was branched off another one: told, not shown (rule 8), because what it
    /// leaves out of a list of its own is the other one's.
    pub(super) fn branched(&self) -> Result<Option<String>, EngineError> {
        let open = self.snapshot.row()?.counts.open();
        if open == 0 {
            return self.offer();
        }
        let todos = self.work()?;
        let part = self.around(&todos)?;
        Ok(Some(drive::branched(&self.plan.name, PlanReader::new(&part, self.now), &todos, open, self.list_words())))
    }

    /// The todos with what it takes to judge whether they can be started.
    fn around(&self, todos: &[Todo]) -> Result<Plan, EngineError> {
        let mut part = Plan::slice(self.snapshot.row()?);
        let uids: Vec<Uid> = todos.iter().map(|todo| todo.uid).collect();
        todos.iter().for_each(|todo| part.put(todo.clone()));
        load_reasons(self.snapshot, &mut part, &uids)?;
        Ok(part)
    }

    /// What texts for a conversation that has not written anything yet may name.
    const fn list_words(&self) -> ListWords {
        ListWords { shell: self.settings.reminders_shell.value, ids: true }
    }

    /// Open plans, for a session that has none: offered, not shown.
    pub(super) fn offer(&self) -> Result<Option<String>, EngineError> {
        let row = self.snapshot.row()?;
        let mut plans = Vec::new();
        if row.counts.open() > 0 {
            plans.push((self.plan.name.clone(), row.counts.open(), Progress::of_counts(&row.counts).total));
        }
        plans.extend_from_slice(self.others);
        if plans.is_empty() {
            return Ok(None);
        }
        let next = ReadyQuery { offered: OfferedElsewhere::LeftOut, ..ReadyQuery::of_plan(self.now) }
            .ready(self.snapshot, 1)?
            .pop();
        Ok(Some(drive::offer(&plans, next.as_ref(), self.list_words())))
    }
}
