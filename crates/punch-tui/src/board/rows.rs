//! The rows of each panel. Rows are keys; their appearance is drawn from the data.

use std::collections::{BTreeSet, HashMap};

use punch_core::reason::PlanReader;
use punch_core::{PhaseUid, ShownStatus, Todo, Uid};

use super::{Board, BoardPanel, BoardView, InboxKey, RowKey};

/// Todos of a phase that are shown before it is expanded, and lines of notes of a todo in progress.
const COLLAPSED: usize = 8;
/// Open todos in the panel of what is next; the list has all of them.
const NEXT: usize = 500;

impl Board {
    /// Makes the rows of the panels of this view anew.
    pub(super) fn rebuild(&mut self) {
        self.marked.retain(|uid| self.data.plan.as_ref().and_then(|plan| plan.get(*uid)).is_some_and(Todo::is_live));
        let ends = self.data.plan.iter().flat_map(|plan| plan.all()).filter_map(Todo::ends_at);
        self.next_moment = ends.filter(|at| *at > self.now).min();
        for panel in self.view.panels() {
            let rows = match panel {
                BoardPanel::Inbox => self.inbox_rows(),
                BoardPanel::Working => self.working_rows(),
                BoardPanel::Next => self.next_rows(),
                BoardPanel::Changes => self.data.unseen().iter().map(|row| RowKey::Revision(row.revision)).collect(),
                BoardPanel::List => self.list_rows(),
                BoardPanel::Graph => self.graph_rows(),
                BoardPanel::Log => self.data.history.iter().map(|row| RowKey::Revision(row.revision)).collect(),
                BoardPanel::Seats => self.seat_rows(),
                BoardPanel::Detail => continue,
            };
            let follows = matches!(panel, BoardPanel::Changes | BoardPanel::Log) && self.panel != *panel;
            let pane = self.panes.entry(*panel).or_default();
            let is_at_top = pane.at == 0;
            pane.replace(rows);
            // What is newest stays in view as long as the cursor is elsewhere.
            if follows && is_at_top {
                pane.go(0);
            }
        }
    }

    fn inbox_rows(&self) -> Vec<RowKey> {
        self.data.inbox.iter().map(|item| RowKey::Inbox(InboxKey::of(item))).collect()
    }

    fn reader(&self) -> Option<PlanReader<'_>> {
        self.data.reader(self.now)
    }

    fn working_rows(&self) -> Vec<RowKey> {
        let Some(reader) = self.reader() else { return Vec::new() };
        let mut running: Vec<&Todo> = reader.plan.running().filter(|todo| reader.shown(todo).is_running()).collect();
        // A todo whose agent asks is on hold, and its agent still works on it.
        let held = self.data.seats().filter_map(|seat| reader.plan.by_id(seat.todo.as_deref()?));
        running.extend(held.filter(|todo| todo.status.is_open() && !reader.shown(todo).is_running()));
        let seat = |todo: &Todo| self.data.seat_of(&todo.id).map_or(u32::MAX, |seat| seat.seat);
        running.sort_by_key(|todo| (seat(todo), todo.started_at, todo.uid));
        let warnings = (0..self.data.fleet.warnings(self.now).len()).map(RowKey::FleetWarning);
        running.into_iter().map(|todo| RowKey::Todo(todo.uid)).chain(warnings).collect()
    }

    fn next_rows(&self) -> Vec<RowKey> {
        let Some(reader) = self.reader() else { return Vec::new() };
        let matches = self.filter.on(reader, self.data.seen_at);
        let with_seat = self.data.seats().filter_map(|seat| reader.plan.by_id(seat.todo.as_deref()?));
        let worked_on: BTreeSet<Uid> = with_seat.map(|todo| todo.uid).collect();
        let mut open: Vec<(u8, (bool, u8, i64, Uid))> = Vec::new();
        for todo in reader.plan.all().filter(|todo| todo.is_live() && todo.status.is_open()) {
            let status = reader.shown(todo);
            if status.is_running() || !status.is_open() || worked_on.contains(&todo.uid) || !matches(todo) {
                continue;
            }
            open.push((rank(status), reader.limits.order(todo)));
        }
        if open.len() > NEXT {
            open.select_nth_unstable(NEXT);
            open.truncate(NEXT);
        }
        open.sort_unstable();
        open.into_iter().map(|(_, (.., uid))| RowKey::Todo(uid)).collect()
    }

    /// Todos without a phase first, then the phases. Of several phases, each is collapsed to a few todos.
    fn list_rows(&self) -> Vec<RowKey> {
        let Some(reader) = self.reader() else { return Vec::new() };
        let plan = reader.plan;
        let mut sections: Vec<(Option<PhaseUid>, Vec<&Todo>)> = vec![(None, Vec::new())];
        sections.extend(plan.row.phases.iter().map(|phase| (Some(phase.uid), Vec::new())));
        let places: HashMap<Option<PhaseUid>, usize> =
            sections.iter().enumerate().map(|(at, (phase, _))| (*phase, at)).collect();
        let matches = self.filter.on(reader, self.data.seen_at);
        for todo in plan.live().into_iter().filter(|todo| matches(todo)) {
            let at = places.get(&todo.phase).copied().unwrap_or(0);
            sections[at].1.push(todo);
        }
        sections.retain(|(phase, todos)| !todos.is_empty() || (phase.is_some() && self.filter.is_empty()));
        let alone = sections.len() == 1;
        let mut rows = Vec::new();
        for (phase, todos) in sections {
            if !(alone && phase.is_none()) {
                rows.push(RowKey::Phase(phase));
            }
            let is_expanded = alone || self.all_expanded || self.expanded.contains(&phase) || !self.filter.is_empty();
            self.section_rows(&mut rows, reader, phase, &todos, is_expanded);
        }
        rows
    }

    fn section_rows<'a>(
        &self,
        rows: &mut Vec<RowKey>,
        reader: PlanReader<'a>,
        phase: Option<PhaseUid>,
        todos: &[&'a Todo],
        is_expanded: bool,
    ) {
        let hidden = |todo: &&&Todo| !self.show_closed && self.filter.is_empty() && self.delay.hides(todo, reader.now);
        let (closed, shown): (Vec<&Todo>, Vec<&Todo>) = todos.iter().partition(|todo| hidden(todo));
        let first = shown.iter().position(|todo| reader.shown(todo).is_running());
        let first = first.or_else(|| shown.iter().position(|todo| reader.shown(todo).is_open())).unwrap_or(0);
        let start = match is_expanded || shown.len() <= COLLAPSED {
            true => 0,
            false => first.saturating_sub(1).min(shown.len() - COLLAPSED),
        };
        let end = if is_expanded { shown.len() } else { shown.len().min(start + COLLAPSED) };
        for todo in &shown[start..end] {
            rows.push(RowKey::Todo(todo.uid));
            if reader.shown(todo).is_running() {
                let lines = todo.notes.iter().flat_map(|note| note.text.lines()).count();
                rows.extend((0..lines.min(COLLAPSED)).map(|line| RowKey::Note(todo.uid, line)));
            }
        }
        if end - start < shown.len() {
            rows.push(RowKey::More(phase, shown.len() - (end - start)));
        }
        if !closed.is_empty() {
            rows.push(RowKey::Closed(phase, closed.len()));
        }
    }

    fn seat_rows(&self) -> Vec<RowKey> {
        let seats = self.data.seats().map(|seat| RowKey::Seat(seat.seat));
        let sessions = self.data.sessions.iter().map(|session| RowKey::Session(session.id.clone()));
        seats.chain(sessions).chain(self.fleet_rows()).collect()
    }

    /// Workers by machine, and below them what no worker looks after.
    fn fleet_rows(&self) -> Vec<RowKey> {
        let fleet = &self.data.fleet;
        let mut rows = Vec::new();
        for (host, workers) in fleet.hosts() {
            rows.push(RowKey::Text(format!(" Workers on {host}")));
            rows.extend(workers.into_iter().map(|worker| RowKey::Worker(worker.name.to_string())));
        }
        let stuck = fleet.stuck.iter().map(|claim| RowKey::StuckClaim(claim.plan.to_string(), claim.todo.to_string()));
        rows.extend(stuck);
        rows
    }

    /// What is worked on, or else what is next.
    fn first_todo(&self) -> Option<Uid> {
        let mut rows = [BoardPanel::Working, BoardPanel::Next].into_iter().flat_map(|panel| &self.pane(panel).rows);
        rows.find_map(|row| if let RowKey::Todo(uid) = row { Some(*uid) } else { None })
    }

    /// The view that a row of a panel belongs to has just been chosen.
    pub(super) fn show(&mut self, view: BoardView) {
        let target = self.target();
        self.view = view;
        self.detail_open = false;
        self.detail_top = 0;
        self.run_top = 0;
        self.panel = view.panels()[0];
        if view == BoardView::Graph {
            self.graph_center = target.or(self.graph_center).or_else(|| self.first_todo());
        }
        self.rebuild();
        if let Some(uid) = target.or(self.graph_center.filter(|_| view == BoardView::Graph)) {
            self.panes.entry(self.panel).or_default().go_to(&RowKey::Todo(uid));
        }
    }
}

/// What can be started comes first, what the user should look at comes before what waits by itself.
const fn rank(status: ShownStatus) -> u8 {
    match status {
        ShownStatus::Ready => 0,
        ShownStatus::Waiting => 1,
        ShownStatus::Held => 2,
        ShownStatus::Stuck => 3,
        ShownStatus::Empty => 4,
        ShownStatus::InProgress | ShownStatus::Stalled | ShownStatus::Reported => 5,
        ShownStatus::Parked
        | ShownStatus::Completed
        | ShownStatus::Cancelled
        | ShownStatus::Failed
        | ShownStatus::Archived => 6,
    }
}
