//! Draws everything about what is selected. A question to the user comes first and in full, because it can be answered
//! only once all of it has been on screen.

use punch_core::reason::PlanReader;
use punch_core::text::neutral;
use punch_core::view::{Plain, SpanRole, TodoDetail, todo_detail};
use punch_core::{Dep, Todo, Uid, Verify};
use punch_engine::dollars;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::line::{age, fit, span, tokens, wrap};
use crate::board::{Board, RowKey};
use crate::keys::{self, KeyAction};

/// Dependents that are named.
const NAMED: usize = 12;

pub(super) fn title(board: &Board) -> String {
    match board.target().and_then(|uid| board.todo(uid)) {
        Some(todo) => format!("{}  {}", Plain::id(&todo.id), Plain::text(&todo.content)),
        None => match board.selected() {
            Some(RowKey::Revision(revision)) => format!("Revision {revision}"),
            Some(RowKey::Session(_)) => "Session".to_owned(),
            Some(RowKey::Worker(name)) => format!("Worker {}", Plain::id(name)),
            Some(RowKey::Seat(seat)) => format!("Seat {seat}"),
            _ => "Detail".to_owned(),
        },
    }
}

/// All lines of the detail at a width.
pub(crate) fn detail_lines(board: &Board, width: usize) -> Vec<Line<'static>> {
    let mut out = DetailLines { board, width, lines: asked_lines(board, width) };
    match board.target() {
        Some(uid) => out.todo(uid),
        None => out.other(),
    }
    out.lines
}

/// What the user is asked, in full, at a width; nothing if the user is asked nothing.
pub(crate) fn asked_lines(board: &Board, width: usize) -> Vec<Line<'static>> {
    let mut out = DetailLines { board, width, lines: Vec::new() };
    if board.question().is_some() {
        out.question();
    } else if let Some((_, command)) = board.unapproved() {
        out.approval(command);
    }
    out.lines
}

struct DetailLines<'a> {
    board: &'a Board,
    width: usize,
    lines: Vec<Line<'static>>,
}

impl DetailLines<'_> {
    fn put(&mut self, text: &str, style: Style) {
        self.indented(0, text, style);
    }

    fn indented(&mut self, by: usize, text: &str, style: Style) {
        let room = self.width.saturating_sub(by + 1).max(4);
        for line in wrap(text, room, 0) {
            self.lines.push(Line::from(Span::styled(format!(" {}{line}", " ".repeat(by)), style)));
        }
    }

    fn text(&self) -> Style {
        self.board.look().style(SpanRole::Text)
    }

    fn blank(&mut self) {
        if self.lines.last().is_some_and(|line| line.width() > 0) {
            self.lines.push(Line::default());
        }
    }

    fn question(&mut self) {
        let Some(question) = self.board.question() else { return };
        let look = self.board.look();
        let when = age(self.board.now() - question.asked_at);
        let seat = question.seat.map(|(run, seat)| format!(" in seat {seat} of run {run}")).unwrap_or_default();
        self.put(&format!("{}{seat} asks ({when}):", question.agent), look.alarm());
        for line in &question.lines {
            self.indented(2, line, self.text());
        }
        if question.is_cut {
            self.indented(2, "(longer than what can be stored: it can only be denied here)", look.warning());
        }
        let keys = [
            (KeyAction::Allow, "allow once"),
            (KeyAction::Deny, "deny"),
            (KeyAction::DenyWithReason, "deny with a reason"),
        ];
        match (&self.board.data().no_answers, question.seat) {
            (_, None) => self.put("Answer in the agent's own terminal.", look.dim()),
            (Some(why), _) => self.put(&format!("Cannot be answered here: {why}"), look.warning()),
            (None, Some(_)) => self.keys(&keys),
        }
    }

    fn approval(&mut self, command: &Verify) {
        let look = self.board.look();
        self.put("May this command check todos in this project?", look.alarm());
        for line in command.line().lines() {
            self.indented(2, &neutral(line), self.text());
        }
        match &self.board.data().no_answers {
            Some(why) => self.put(&format!("Cannot be approved here: {why}"), look.warning()),
            None => self.keys(&[(KeyAction::Approve, "approve")]),
        }
    }

    fn keys(&mut self, keys: &[(KeyAction, &str)]) {
        let look = self.board.look();
        let mut spans = vec![Span::raw(" ")];
        for (action, words) in keys {
            spans.push(Span::styled(keys::key_of(*action), look.key()));
            spans.push(Span::styled(format!(" {words}  "), look.dim()));
        }
        self.lines.push(Line::from(spans));
    }

    fn todo(&mut self, uid: Uid) {
        let board = self.board;
        let (Some(reader), Some(todo)) = (board.data().reader(board.now()), board.todo(uid)) else { return };
        let look = board.look();
        self.blank();
        let status = reader.shown(todo);
        let mut head = vec![format!("{} {}", look.status(status), status.word())];
        if todo.attempts > 0 && status.is_running() {
            head.push(format!("attempt {}", todo.attempts + 1));
        }
        if let Some(until) = todo.lease_until.filter(|until| *until > board.now() && status.is_running()) {
            head.push(format!("lease {}", span(until - board.now())));
        }
        if let Some(started) = todo.started_at.filter(|_| status.is_running()) {
            head.push(format!("for {}", span(board.now() - started)));
        }
        self.put(&head.join(look.pick(" · ", " - ")), look.status_style(status));
        self.edges(reader, todo);
        for field in TodoDetail::of(reader, todo).fields {
            if !matches!(field.name, "needs" | "blocks") {
                self.field(field.name, field.value.as_str());
            }
        }
        for field in todo_detail::history(reader, todo) {
            self.field(field.name, field.value.as_str());
        }
        self.spent(todo);
        let Some(extra) = board.extra(uid) else { return };
        for informed in &extra.informed {
            self.field("informed", informed.as_str());
        }
        if let Some(lane) = &extra.lane {
            self.blank();
            self.field("worktree", lane.as_str());
            self.keys(&[(KeyAction::Diff, "diff"), (KeyAction::Worktree, "path")]);
        }
        if !extra.output.is_empty() {
            self.blank();
            self.put("Output of its agent", look.bold());
            for line in &extra.output {
                self.lines.push(Line::from(Span::styled(fit(&format!("  {line}"), self.width, look), look.dim())));
            }
            self.keys(&[(KeyAction::AgentLog, "all of it")]);
        }
        if extra.history.is_empty() {
            return;
        }
        self.blank();
        self.put("History", look.bold());
        for row in &extra.history {
            let when = age(board.now() - row.at);
            self.indented(1, &format!("{when:>5}  r{} {} by {}", row.revision, row.changes, row.by), look.dim());
        }
    }

    /// What the agent that works on it has used so far.
    fn spent(&mut self, todo: &Todo) {
        let Some(seat) = self.board.data().seat_of(&todo.id) else { return };
        let line = Plain::text(&seat.line);
        let doing = if line.as_str().is_empty() { String::new() } else { format!(": {line}") };
        self.field("seat", &format!("{} ({}){doing}", seat.seat, Plain::clipped(&seat.agent, 20)));
        self.field("spent", &format!("{} tokens, {}", tokens(seat.tokens), dollars(seat.cost)));
    }

    /// What it needs with how far each is, and what waits for it. Blockers that are done say so.
    fn edges(&mut self, reader: PlanReader<'_>, todo: &Todo) {
        let look = self.board.look();
        let name = |uid: Uid| {
            let to = reader.plan.get(uid)?;
            Some(format!("{} {}", Plain::id(&to.id), look.status(reader.shown(to))))
        };
        let needs: Vec<String> = todo
            .depends_on
            .iter()
            .filter_map(|dep| match dep {
                Dep::On(uid) => name(*uid),
                Dep::Suspended(uid) => Some(format!("{} (cycle)", name(*uid)?)),
                Dep::Dangling(id) => Some(format!("{} (missing)", Plain::id(id))),
            })
            .collect();
        let blocks: Vec<String> =
            reader.plan.dependents_of(todo.uid).into_iter().flatten().filter_map(|uid| name(*uid)).collect();
        for (word, names) in [("needs", needs), ("blocks", blocks)] {
            if !names.is_empty() {
                let more = names.len().saturating_sub(NAMED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                self.field(word, &format!("{}{more}", names[..names.len().min(NAMED)].join("  ")));
            }
        }
    }

    fn field(&mut self, name: &str, value: &str) {
        let room = self.width.saturating_sub(1).max(8);
        let text = format!("{name}: {value}");
        for (at, line) in wrap(&text, room, 2).into_iter().enumerate() {
            let bold = self.board.look().bold();
            let line = match line.strip_prefix(name).filter(|_| at == 0) {
                Some(rest) => {
                    Line::from(vec![Span::raw(" "), Span::styled(name.to_owned(), bold), Span::raw(rest.to_owned())])
                }
                None => Line::from(format!(" {line}")),
            };
            self.lines.push(line);
        }
    }

    /// What is selected is not a todo.
    fn other(&mut self) {
        let (board, look) = (self.board, self.board.look());
        if let Some(item) = board.selected_item() {
            self.put(&item.text, self.text());
            self.field("command", &item.action);
            return;
        }
        match board.selected() {
            Some(RowKey::Revision(revision)) => {
                let Some(row) = board.data().history.iter().find(|row| row.revision == *revision) else { return };
                self.field("by", row.by.as_str());
                self.field("when", &punch_core::time::utc(row.at));
                self.field("changes", row.changes.as_str());
                for (name, of) in [("undoes", row.undoes), ("undone by", row.undone_by)] {
                    if let Some(of) = of {
                        self.field(name, &format!("revision {of}"));
                    }
                }
            }
            Some(RowKey::Session(_)) => {
                let Some(session) = board.session() else { return };
                self.field("agent", session.agent.as_str());
                self.field("session", Plain::text(&session.id).as_str());
                self.field("continuations", &format!("{} of {}", session.continuation, session.of));
                self.field("continuing", session.switch_word());
                if let Some(at) = session.decided_at {
                    let when = age(board.now() - at);
                    self.field("last decision", &format!("{} ({when})", session.decision));
                }
                self.blank();
                self.keys(&[(KeyAction::KeepGoing, "pause, resume, off")]);
            }
            // It has no todo, or its todo would be shown.
            Some(RowKey::Seat(n)) => {
                let Some(seat) = board.data().seats().find(|seat| seat.seat == *n) else { return };
                self.field("agent", Plain::clipped(&seat.agent, 20).as_str());
                self.field("state", &format!("{} for {}", seat.stage.name(), span(board.now() - seat.since)));
                self.field("spent", &format!("{} tokens, {}", tokens(seat.tokens), dollars(seat.cost)));
            }
            Some(RowKey::Worker(name)) => {
                let Some(worker) = board.data().worker(name) else { return };
                for (name, value) in super::fleet::facts(worker, board.now()) {
                    self.field(name, &value);
                }
            }
            _ => self.put("Nothing is selected.", look.dim()),
        }
    }
}
