//! Actions: what each key does.

use punch_core::{Add, Dep, Edit, Hold, HoldKind, Keep, ListPosition, Op, Ref, Status, Uid};
use punch_engine::QuestionReply;
use punch_store::RequestedState;

use super::{AddPlace, Board, BoardPanel, BoardView, PromptKind, RowKey};
use crate::keys::KeyAction;
use crate::request::BoardRequest;

/// Todos named in a notice or a question.
const NAMED: usize = 5;

impl Board {
    pub(super) fn act(&mut self, action: KeyAction) -> Vec<BoardRequest> {
        match action {
            KeyAction::Up => self.step(-1),
            KeyAction::Down => self.step(1),
            KeyAction::Top => self.step(isize::MIN / 2),
            KeyAction::Bottom => self.step(isize::MAX / 2),
            KeyAction::HalfUp => self.step(-self.half_page()),
            KeyAction::HalfDown => self.step(self.half_page()),
            KeyAction::NextPanel => self.next_panel(1),
            KeyAction::PreviousPanel => self.next_panel(-1),
            KeyAction::View(view) => self.show(view),
            KeyAction::NextView => self.next_view(1),
            KeyAction::PreviousView => self.next_view(4),
            KeyAction::Open => return self.open(),
            KeyAction::Back => self.back(),
            KeyAction::NextNeed => self.next_need(),
            KeyAction::Allow => return self.answer(QuestionReply::Allow),
            KeyAction::Deny => return self.answer(QuestionReply::Refuse),
            KeyAction::DenyWithReason => self.deny_with_reason(),
            KeyAction::Approve => return self.approve(),
            KeyAction::AnswerHold => self.ask_for(|uids| PromptKind::HoldAnswer(uids[0])),
            KeyAction::Filter => {
                let text = self.filter.text().to_owned();
                self.ask(PromptKind::Filter, &text);
            }
            KeyAction::Add => {
                let place = self.target().map_or(AddPlace::End, AddPlace::After);
                self.ask(PromptKind::Add(place), "");
            }
            KeyAction::Edit => return self.edit(),
            KeyAction::Change => self.changes_menu(),
            KeyAction::Start if self.is_worked_on() => self.destroy("Take over", "started", Op::Start),
            KeyAction::Start => return self.each("started", |target| vec![Op::Start(target)]),
            KeyAction::Done => {
                return self.each("completed", |target| vec![Op::Done { target, evidence: None, fence: None }]);
            }
            KeyAction::Reopen => return self.each("reopened", |target| vec![Op::Reopen(target)]),
            KeyAction::Release => return self.each("released", |target| vec![Op::Release(target)]),
            KeyAction::Cancel => self.destroy("Cancel", "cancelled", Op::Drop),
            KeyAction::Unclaim => self.destroy("End the claim on", "returned to the queue", Op::Unclaim),
            KeyAction::Archive => self.destroy("Archive", "archived", Op::Rm),
            KeyAction::Fail => self.ask_for(PromptKind::FailReason),
            KeyAction::Hold => self.ask_for(PromptKind::HoldReason),
            KeyAction::Note => self.ask_for(PromptKind::Note),
            KeyAction::Assign => self.ask_for(PromptKind::Assign),
            KeyAction::Left => self.step_across(-1),
            KeyAction::Right => self.step_across(1),
            KeyAction::MoveUp => return self.shift(-1),
            KeyAction::MoveDown => return self.shift(1),
            KeyAction::MoveFirst => return self.each("moved to the top", |r| vec![Op::Move(r, ListPosition::First)]),
            KeyAction::MoveLast => return self.each("moved to the end", |r| vec![Op::Move(r, ListPosition::End)]),
            KeyAction::Raise => return self.prioritise(-1),
            KeyAction::Lower => return self.prioritise(1),
            KeyAction::Mark => self.mark(),
            KeyAction::MarkRange => self.mark_range(),
            KeyAction::Undo => return self.undo(),
            KeyAction::Redo => return vec![BoardRequest::Redo],
            KeyAction::Expand => {
                self.all_expanded = !self.all_expanded;
                self.expanded.clear();
                self.rebuild();
            }
            KeyAction::ShowClosed => {
                self.show_closed = !self.show_closed;
                self.rebuild();
            }
            KeyAction::WholeGraph => {
                self.graph_center = self.target().or(self.graph_center);
                self.whole_graph = !self.whole_graph;
                self.rebuild();
            }
            KeyAction::MarkSeen => return self.mark_seen(),
            KeyAction::Diff => return self.target().map(BoardRequest::Diff).into_iter().collect(),
            KeyAction::AgentLog => return self.target().map(BoardRequest::AgentLog).into_iter().collect(),
            KeyAction::Worktree => return self.target().map(BoardRequest::Worktree).into_iter().collect(),
            KeyAction::Copy => return self.copy(),
            KeyAction::Pause => return self.pause(),
            KeyAction::Stop => self.stop(),
            KeyAction::KeepGoing => self.keep_going_menu(),
            KeyAction::Command => self.ask(PromptKind::Command, ""),
            KeyAction::Help => self.help(),
            KeyAction::Suspend => return vec![BoardRequest::Suspend],
            KeyAction::Quit => return vec![BoardRequest::Quit],
        }
        Vec::new()
    }

    /// The id of a todo, for sentences.
    pub(super) fn name_of(&self, uid: Uid) -> String {
        self.todo(uid).map_or_else(|| format!("#{}", uid.0), |todo| punch_core::text::neutral(&todo.id).into_owned())
    }

    pub(super) fn names_of(&self, uids: &[Uid]) -> String {
        let names: Vec<String> = uids.iter().take(NAMED).map(|uid| self.name_of(*uid)).collect();
        match uids.len().saturating_sub(NAMED) {
            0 => names.join(", "),
            more => format!("{} and {more} more", names.join(", ")),
        }
    }

    fn ask_for(&mut self, kind: impl FnOnce(Vec<Uid>) -> PromptKind) {
        let targets = self.targets();
        if !targets.is_empty() {
            self.ask(kind(targets), "");
        }
    }

    fn submit(&mut self, uids: &[Uid], did: &str, ops: Vec<Op>) -> Vec<BoardRequest> {
        let what = format!("{} {did}", self.names_of(uids));
        if ops.is_empty() {
            return Vec::new();
        }
        self.unmarks = true;
        vec![BoardRequest::Submit { ops, what }]
    }

    fn each(&mut self, did: &str, ops: impl Fn(Ref) -> Vec<Op>) -> Vec<BoardRequest> {
        let uids = self.targets();
        let ops = uids.iter().flat_map(|uid| ops(Ref::Uid(*uid))).collect();
        self.submit(&uids, did, ops)
    }

    /// Returns true if someone else works on one of the todos that an action is about.
    fn is_worked_on(&self) -> bool {
        let owned =
            |uid: &Uid| self.todo(*uid).is_some_and(|todo| todo.status == Status::InProgress && todo.owner.is_some());
        self.targets().iter().any(owned)
    }

    /// Says what would happen and asks.
    fn destroy(&mut self, verb: &str, did: &str, op: impl Fn(Ref) -> Op) {
        let uids = self.targets();
        if uids.is_empty() {
            return;
        }
        let mut lines = vec![format!("{verb} {}?", self.names_of(&uids))];
        let waiting: std::collections::BTreeSet<Uid> = uids
            .iter()
            .filter_map(|uid| self.data.plan.as_ref()?.dependents_of(*uid).ok())
            .flatten()
            .copied()
            .filter(|uid| !uids.contains(uid) && self.todo(*uid).is_some_and(|todo| todo.status.is_open()))
            .collect();
        let waiting: Vec<Uid> = waiting.into_iter().collect();
        if !waiting.is_empty() {
            let verb = if waiting.len() == 1 { "depends" } else { "depend" };
            let what = if uids.len() == 1 { "it" } else { "them" };
            lines.push(format!("{} {verb} on {what}.", self.names_of(&waiting)));
        }
        let owned = uids.iter().filter_map(|uid| Some((*uid, self.todo(*uid)?.owner.clone()?))).take(NAMED);
        for (uid, owner) in owned {
            let what = if uids.len() == 1 { "it".to_owned() } else { self.name_of(uid) };
            lines.push(format!("{} is working on {what}.", punch_core::text::neutral(&owner)));
        }
        lines.push("You can undo this.".to_owned());
        let what = format!("{} {did}", self.names_of(&uids));
        let ops = uids.iter().map(|uid| op(Ref::Uid(*uid))).collect();
        self.unmarks = true;
        self.confirm(lines, vec![BoardRequest::Submit { ops, what }]);
    }

    pub(super) fn add(&mut self, content: &str, place: AddPlace) -> Vec<BoardRequest> {
        let (beside, position) = match place {
            AddPlace::End => (None, ListPosition::End),
            AddPlace::After(uid) | AddPlace::Needs(uid) => (Some(uid), ListPosition::After(Ref::Uid(uid))),
            AddPlace::Before(uid) | AddPlace::NeededBy(uid) => (Some(uid), ListPosition::Before(Ref::Uid(uid))),
        };
        let phase = beside.and_then(|uid| self.todo(uid)?.phase).map(punch_core::PhaseRef::Uid);
        let needs = match place {
            AddPlace::Needs(uid) => Keep::Set(vec![Ref::Uid(uid)]),
            _ => Keep::Keep,
        };
        let edit = Edit {
            content: Keep::Set(content.to_owned()),
            phase: phase.map_or(Keep::Keep, |phase| Keep::Set(Some(phase))),
            depends_on: needs,
            ..Edit::default()
        };
        let mut ops = vec![Op::Add(Add { edit, place: position, ..Add::default() })];
        if let AddPlace::NeededBy(uid) = place
            && let Some(todo) = self.todo(uid)
        {
            let known = |dep: &Dep| match dep {
                Dep::On(uid) | Dep::Suspended(uid) => Ref::Uid(*uid),
                Dep::Dangling(id) => Ref::Id(id.clone()),
            };
            let needs = todo.depends_on.iter().map(known).chain([Ref::New(0)]).collect();
            ops.push(Op::Edit(Ref::Uid(uid), Edit { depends_on: Keep::Set(needs), ..Edit::default() }));
        }
        vec![BoardRequest::Submit { ops, what: "Added".to_owned() }]
    }

    pub(super) fn note(&mut self, uids: &[Uid], text: &str) -> Vec<BoardRequest> {
        let ops = uids.iter().map(|uid| Op::Note(Ref::Uid(*uid), text.to_owned())).collect();
        self.submit(uids, "noted", ops)
    }

    pub(super) fn answer_hold(&mut self, uid: Uid, text: &str) -> Vec<BoardRequest> {
        // The answer alone would say nothing once the question is gone with its hold.
        let hold = self.todo(uid).and_then(|todo| todo.hold.as_ref());
        let note = hold.map_or_else(|| text.to_owned(), |hold| hold.answered(text));
        let ops = vec![Op::Note(Ref::Uid(uid), note), Op::Release(Ref::Uid(uid))];
        self.submit(&[uid], "answered and released", ops)
    }

    pub(super) fn hold(&mut self, uids: &[Uid], reason: &str, kind: HoldKind) -> Vec<BoardRequest> {
        let hold = Hold { kind, reason: reason.to_owned(), until: None, by: String::new(), at: 0 };
        let ops = uids.iter().map(|uid| Op::Hold(Ref::Uid(*uid), hold.clone())).collect();
        self.submit(uids, "put on hold", ops)
    }

    pub(super) fn fail(&mut self, uids: &[Uid], error: &str) -> Vec<BoardRequest> {
        let ops = uids.iter().map(|uid| Op::Fail(Ref::Uid(*uid), error.to_owned())).collect();
        self.submit(uids, "failed", ops)
    }

    pub(super) fn assign(&mut self, uids: &[Uid], to: &str) -> Vec<BoardRequest> {
        let mut words = vec!["assign".to_owned()];
        words.extend(uids.iter().filter_map(|uid| self.todo(*uid)).map(|todo| todo.id.clone()));
        words.extend(["--to".to_owned(), to.to_owned()]);
        self.unmarks = true;
        vec![BoardRequest::NewAgent(words)]
    }

    fn edit(&mut self) -> Vec<BoardRequest> {
        if self.targets().len() > 1 {
            self.refuse("only one todo can be edited at a time; Esc removes the marks");
            return Vec::new();
        }
        let ids = self.targets().into_iter().filter_map(|uid| self.todo(uid)).map(|todo| todo.id.clone());
        ids.take(1).map(|id| BoardRequest::Foreground(vec!["edit".to_owned(), id])).collect()
    }

    /// Moves the selected todo past its neighbor in the rows.
    fn shift(&mut self, by: isize) -> Vec<BoardRequest> {
        let Some(uid) = self.target() else { return Vec::new() };
        let pane = self.pane(self.selecting());
        let mut at = pane.at;
        let neighbor = loop {
            at = match at.checked_add_signed(by) {
                Some(at) if at < pane.rows.len() => at,
                _ => return Vec::new(),
            };
            match &pane.rows[at] {
                RowKey::Todo(other) if *other != uid => break Ref::Uid(*other),
                RowKey::Phase(_) => return Vec::new(),
                _ => {}
            }
        };
        let (place, did) = match by {
            ..0 => (ListPosition::Before(neighbor), "moved up"),
            _ => (ListPosition::After(neighbor), "moved down"),
        };
        self.submit(&[uid], did, vec![Op::Move(Ref::Uid(uid), place)])
    }

    fn prioritise(&mut self, by: i8) -> Vec<BoardRequest> {
        let uids = self.targets();
        let changed = uids.iter().filter_map(|uid| {
            let before = self.todo(*uid)?.priority;
            let priority = before.saturating_add_signed(by).clamp(1, 5);
            let edit = Edit { priority: Keep::Set(priority), ..Edit::default() };
            (priority != before).then_some(Op::Edit(Ref::Uid(*uid), edit))
        });
        let ops = changed.collect();
        self.submit(&uids, if by < 0 { "raised" } else { "lowered" }, ops)
    }

    fn undo(&mut self) -> Vec<BoardRequest> {
        let revision = match self.selected() {
            Some(RowKey::Revision(revision)) if self.view == BoardView::Log => *revision,
            _ => return vec![BoardRequest::Undo(None)],
        };
        let row = self.data.history.iter().find(|row| row.revision == revision);
        let lines = match row {
            Some(row) => vec![format!("Undo revision {revision} by {}?", row.by), row.changes.to_string()],
            None => vec![format!("Undo revision {revision}?")],
        };
        self.confirm(lines, vec![BoardRequest::Undo(Some(revision))]);
        Vec::new()
    }

    pub(super) fn mark_seen(&mut self) -> Vec<BoardRequest> {
        match self.data.plan.as_ref().map(|plan| plan.row.revision) {
            Some(revision) if revision > self.data.seen => vec![BoardRequest::MarkSeen(revision)],
            _ => Vec::new(),
        }
    }

    fn copy(&mut self) -> Vec<BoardRequest> {
        let Some(id) = self.target().and_then(|uid| self.todo(uid)).map(|todo| todo.id.clone()) else {
            return Vec::new();
        };
        self.say(format!("Copied {}", punch_core::text::neutral(&id)));
        vec![BoardRequest::Copy(id)]
    }

    fn pause(&mut self) -> Vec<BoardRequest> {
        let Some(run) = &self.data.run else { return Vec::new() };
        let wanted = if run.wanted == RequestedState::Go { RequestedState::Pause } else { RequestedState::Go };
        vec![BoardRequest::Control { run: run.number, seat: None, wanted }]
    }

    fn stop(&mut self) {
        let Some(run) = self.data.run.as_ref().map(|run| run.number) else { return };
        let seat = match self.selected() {
            Some(RowKey::Seat(seat)) => Some(*seat),
            _ => None,
        };
        let what = seat.map_or_else(|| format!("run {run}"), |seat| format!("seat {seat} of run {run}"));
        let lines = vec![
            format!("Stop {what}?"),
            "Its agents are asked to end. What they were working on becomes ready again.".to_owned(),
        ];
        self.confirm(lines, vec![BoardRequest::Control { run, seat, wanted: RequestedState::Stop }]);
    }

    fn next_need(&mut self) {
        let inside = self.view == BoardView::Now && self.selecting() == BoardPanel::Inbox;
        if self.view != BoardView::Now {
            self.show(BoardView::Now);
        }
        self.panel = BoardPanel::Inbox;
        self.source = BoardPanel::Inbox;
        self.detail_open = false;
        self.detail_top = 0;
        let pane = self.panes.entry(BoardPanel::Inbox).or_default();
        if pane.rows.is_empty() {
            self.say("Nothing needs you.");
        } else if inside {
            let at = (pane.at + 1) % pane.rows.len();
            pane.go(at);
        } else {
            pane.go(0);
        }
    }
}
