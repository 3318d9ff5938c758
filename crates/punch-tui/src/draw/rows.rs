//! The rows of each panel.

use punch_core::ShownStatus;
use punch_core::drive::Switch;
use punch_core::inbox::InboxItem;
use punch_core::reason::PlanReader;
use punch_core::view::{Badge, HistoryRow, Plain, Progress, SpanRole, TodoRow};
use punch_core::{Todo, Uid, short_owner};
use punch_engine::{SeatStage, SeatStatus, dollars};
use punch_store::RequestedState;
use ratatui::style::Style;
use ratatui::text::Line;

use super::fleet;
use super::line::{LineBuilder, age, columns, fit, span, tokens};
use crate::board::{Board, BoardPanel, RowKey};

/// Columns of ids.
const ID: usize = 8;
/// Columns of the bars of what a run has spent.
const BAR: usize = 20;

/// The rows of a panel that are on screen.
pub(super) fn lines(
    board: &Board,
    panel: BoardPanel,
    width: usize,
    height: usize,
    has_cursor: bool,
) -> Vec<Line<'static>> {
    let pane = board.pane(panel);
    if panel == BoardPanel::Seats {
        return run_lines(board, width, height, has_cursor);
    }
    if pane.rows.is_empty() {
        return vec![Line::from(ratatui::text::Span::styled(
            fit(&format!(" {}", nothing(board, panel)), width, board.look()),
            board.look().dim(),
        ))];
    }
    let ids = pane.rows.iter().skip(pane.top).take(height).filter_map(|row| id_of(board, row));
    let ids = ids.map(|id| columns(&id)).max().unwrap_or(0).clamp(3, if width < 60 { ID } else { 16 });
    let mut out = Vec::new();
    for (at, key) in pane.rows.iter().enumerate().skip(pane.top).take(height) {
        let line = row(board, panel, key, width, ids, at == pane.at && has_cursor);
        out.push(if at == pane.at && has_cursor { line.patch_style(board.look().selected()) } else { line });
    }
    out
}

/// What the run has spent, its seats and sessions, and the run over time below them.
fn run_lines(board: &Board, width: usize, height: usize, has_cursor: bool) -> Vec<Line<'static>> {
    let (look, pane) = (board.look(), board.pane(BoardPanel::Seats));
    let mut out = Vec::new();
    let plain = |text: &str, style: Style| {
        let mut row = LineBuilder::new(look, width);
        row.put(&format!(" {text}"), style);
        row.line()
    };
    let shown = pane.top..pane.top + board.run_top() + height;
    for (at, key) in pane.rows.iter().enumerate().filter(|(at, _)| shown.contains(at)) {
        let line = row(board, BoardPanel::Seats, key, width, ID, at == pane.at && has_cursor);
        out.push(if at == pane.at && has_cursor { line.patch_style(look.selected()) } else { line });
    }
    if pane.rows.is_empty() {
        out.push(plain(&nothing(board, BoardPanel::Seats), look.dim()));
    }
    if let Some(run) = &board.data().run {
        out.push(Line::default());
        out.extend(spending(board, run).iter().map(|text| plain(text, look.style(SpanRole::Text))));
    }
    for (heading, lines) in &board.timeline().0 {
        if !lines.is_empty() {
            out.push(Line::default());
            out.push(plain(heading, look.bold()));
            out.extend(lines.iter().map(|text| plain(text, look.style(SpanRole::Text))));
        }
    }
    out.into_iter().skip(board.run_top()).take(height).collect()
}

/// How many lines [`run_lines`] has without the edges of the screen.
pub(crate) fn run_line_count(board: &Board) -> usize {
    let spending = board.data().run.as_ref().map_or(0, |run| 1 + spending(board, run).len());
    let timeline = board.timeline().0.iter().filter(|(_, lines)| !lines.is_empty());
    board.pane(BoardPanel::Seats).rows.len().max(1)
        + spending
        + timeline.map(|(_, lines)| 2 + lines.len()).sum::<usize>()
}

/// What the run has used of its limits.
fn spending(board: &Board, run: &crate::data::RunState) -> Vec<String> {
    let look = board.look();
    let until = run.ended_at.unwrap_or_else(|| board.now());
    let guess = if run.spent.estimated > 0 { " (partly estimated)" } else { "" };
    let state = match (run.is_running, run.outcome) {
        (true, _) => match run.wanted {
            RequestedState::Go => "works".to_owned(),
            RequestedState::Pause => "finishes what it works on, then waits".to_owned(),
            RequestedState::Stop => "stops".to_owned(),
        },
        (false, Some(outcome)) => format!("ended: {outcome}"),
        (false, None) => "was cut short".to_owned(),
    };
    let line = |name: &str, used: u64, limit: Option<u64>, words: &dyn Fn(u64) -> String| match limit {
        None => format!("{name:<7} {}", words(used)),
        Some(limit) => {
            let percent = used.saturating_mul(100) / limit.max(1);
            let full = usize::try_from(percent).unwrap_or(100).min(100) * BAR / 100;
            let bar = format!("{}{}", look.pick("█", "#").repeat(full), look.pick("░", ".").repeat(BAR - full));
            format!("{name:<7} {bar} {} of {} ({percent}%)", words(used), words(limit))
        }
    };
    let took = |ms: u64| span(i64::try_from(ms).unwrap_or(i64::MAX));
    let time = u64::try_from(until - run.started_at).unwrap_or(0);
    vec![
        format!("run {} {state}", run.number),
        line("cost", run.spent.cost, run.limits.cost, &dollars),
        line("tokens", run.spent.tokens, run.limits.tokens, &tokens) + guess,
        line("time", time, run.limits.time, &took),
    ]
}

/// What an empty panel says.
fn nothing(board: &Board, panel: BoardPanel) -> String {
    let data = board.data();
    match panel {
        BoardPanel::Inbox => punch_core::view::inbox::EMPTY.to_owned(),
        BoardPanel::Working => {
            let ready =
                board.pane(BoardPanel::Next).rows.iter().filter(
                    |row| matches!(row, RowKey::Todo(uid) if status_of(board, *uid) == Some(ShownStatus::Ready)),
                );
            match ready.count() {
                0 => "Nothing is in progress.".to_owned(),
                1 => "Nothing is in progress, and 1 todo is ready.".to_owned(),
                more => format!("Nothing is in progress, and {more} todos are ready."),
            }
        }
        BoardPanel::Next | BoardPanel::List | BoardPanel::Graph if data.plan.is_none() => {
            "No plan yet. Press a to add the first todo.".to_owned()
        }
        BoardPanel::Next | BoardPanel::List | BoardPanel::Graph if !board.filter_text().is_empty() => {
            "Nothing matches the filter. Esc removes it.".to_owned()
        }
        BoardPanel::Next => "Nothing else is open.".to_owned(),
        BoardPanel::List | BoardPanel::Graph => "No todos.".to_owned(),
        BoardPanel::Changes => "Nothing changed since you looked.".to_owned(),
        BoardPanel::Log => "Nothing has happened yet.".to_owned(),
        BoardPanel::Seats => "No agent is working on this plan.".to_owned(),
        BoardPanel::Detail => String::new(),
    }
}

fn status_of(board: &Board, uid: Uid) -> Option<ShownStatus> {
    let reader = board.data().reader(board.now())?;
    reader.plan.get(uid).map(|todo| reader.shown(todo))
}

fn id_of(board: &Board, row: &RowKey) -> Option<String> {
    match row {
        RowKey::Todo(uid) => board.todo(*uid).map(|todo| Plain::id(&todo.id).to_string()),
        RowKey::Inbox(key) => key.todo.as_deref().map(|id| Plain::id(id).to_string()),
        _ => None,
    }
}

fn row(board: &Board, panel: BoardPanel, key: &RowKey, width: usize, ids: usize, selected: bool) -> Line<'static> {
    let look = board.look();
    let plain = |text: String, style: Style| {
        let mut row = LineBuilder::new(look, width);
        row.put(&text, style);
        row.line()
    };
    match key {
        RowKey::Inbox(key) => match board.item(key) {
            Some(item) => inbox_row(board, item, width, ids, selected),
            None => Line::default(),
        },
        RowKey::Todo(uid) => match (board.data().reader(board.now()), board.todo(*uid)) {
            (Some(reader), Some(todo)) if panel == BoardPanel::Working => working_row(board, reader, todo, width, ids),
            (Some(reader), Some(todo)) => todo_row(board, panel, reader, todo, width, ids),
            _ => Line::default(),
        },
        RowKey::Note(uid, line) => {
            let text = board.todo(*uid).and_then(|todo| {
                todo.notes
                    .iter()
                    .flat_map(|note| note.text.lines())
                    .nth(*line)
                    .map(|line| Plain::text(line).to_string())
            });
            plain(format!("      {}", text.unwrap_or_default()), look.dim())
        }
        RowKey::Phase(phase) => plain(phase_heading(board, *phase), look.bold()),
        RowKey::More(_, count) => plain(format!("   +{count} more"), look.dim()),
        RowKey::Closed(_, count) => plain(format!("   +{count} closed"), look.dim()),
        RowKey::Revision(revision) => match board.data().history.iter().find(|row| row.revision == *revision) {
            Some(entry) => revision_row(board, entry, width),
            None => Line::default(),
        },
        RowKey::Seat(n) => match board.data().seats().find(|seat| seat.seat == *n) {
            Some(seat) => seat_row(board, seat, width),
            None => Line::default(),
        },
        RowKey::Session(id) => session_row(board, id, width),
        RowKey::Worker(name) => match board.data().worker(name) {
            Some(worker) => fleet::worker_row(board, worker, width),
            None => Line::default(),
        },
        RowKey::StuckClaim(plan, todo) => fleet::stuck_row(board, plan, todo, width),
        RowKey::FleetWarning(at) => fleet::warning_row(board, *at, width),
        RowKey::Text(text) => plain(text.clone(), look.bold()),
    }
}

fn inbox_row(board: &Board, item: &InboxItem, width: usize, ids: usize, selected: bool) -> Line<'static> {
    let look = board.look();
    let old = age(board.now() - item.since);
    let narrow = width < 60;
    let right = match (item.blocks, narrow) {
        (0, true) => format!("{old:>5}"),
        (0, false) => format!("{old:>6}"),
        (blocks, true) => format!("{old:>5} b{blocks}"),
        (blocks, false) => format!("{old:>6}  blocks {blocks:<4}"),
    };
    let right_room = if narrow { columns(&right) + 1 } else { 20 };
    let mut row = LineBuilder::new(look, width);
    row.put(if selected && narrow { ">" } else { " " }, look.bold());
    row.put(look.inbox(item.kind), look.alarm()).put(" ", look.dim());
    if let Some(id) = &item.todo {
        row.column(Plain::id(id).as_str(), ids, look.style(SpanRole::Id)).put(" ", look.dim());
    }
    let stop = width.saturating_sub(right_room);
    if !narrow {
        row.column(item.kind.name(), 9, look.style(SpanRole::Warning));
    }
    let room = stop.saturating_sub(width - row.left());
    let text = if narrow { without_title(board, item) } else { &item.text };
    row.column(text, room, look.style(SpanRole::Text)).to(stop);
    row.put(&right, look.dim());
    row.line()
}

/// The text of an item without the todo's own, which leaves no room on a narrow screen for what is asked.
fn without_title<'a>(board: &Board, item: &'a InboxItem) -> &'a str {
    let id = item.todo.as_deref();
    let todo = id.and_then(|id| board.data().plan.as_ref()?.by_id(id));
    let rest = todo.and_then(|todo| item.text.strip_prefix(Plain::text(&todo.content).as_str()));
    rest.and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&item.text)
}

/// What a worker does, and for how long it has been quiet.
fn stage(board: &Board, seat: &SeatStatus) -> (String, bool) {
    let quiet = seat.last_sign.map_or(0, |sign| board.now() - sign);
    let works = matches!(seat.stage, SeatStage::Starting | SeatStage::Working);
    if works && board.data().quiet_after > 0 && quiet > board.data().quiet_after {
        return (format!("quiet {} {}", age(quiet), board.look().pick("⚠", "!")), true);
    }
    match seat.stage {
        SeatStage::Asking => ("? asking".to_owned(), true),
        stage => (stage.name().to_owned(), false),
    }
}

fn working_row(board: &Board, reader: PlanReader<'_>, todo: &Todo, width: usize, ids: usize) -> Line<'static> {
    let look = board.look();
    let view = TodoRow::of(reader, todo);
    let seat = board.data().seat_of(&todo.id);
    let since = todo.started_at.unwrap_or(todo.updated_at);
    let old = span(board.now() - since);
    let (who, (doing, alarming)) = match seat {
        Some(seat) => (format!("[{}] {}", seat.seat, Plain::clipped(&seat.agent, 20)), stage(board, seat)),
        None => {
            let owner =
                todo.owner.as_deref().map_or_else(|| "you".to_owned(), |name| Plain::id(short_owner(name)).to_string());
            let asks = board.data().question_of(todo.uid).is_some();
            (owner, if asks { ("? asking".to_owned(), true) } else { (view.status.word().to_owned(), false) })
        }
    };
    let style = if alarming { look.alarm() } else { look.style(SpanRole::Text) };
    let narrow = width < 60;
    let mut row = start(board, &view, width, ids);
    if narrow {
        let right = format!("{old:>5}");
        let agent = seat.map_or(who.clone(), |seat| Plain::clipped(&seat.agent, 20).to_string());
        row.column(&agent, 8, look.style(SpanRole::Text)).put(" ", look.dim());
        let room = row.left().saturating_sub(columns(&right) + 1);
        row.column(&doing, room, style).put(&right, look.dim());
        return row.line();
    }
    let cost = seat.map(|seat| format!("{:>5}  {:>6}", tokens(seat.tokens), dollars(seat.cost))).unwrap_or_default();
    let tail = 12 + 13 + 7 + columns(&cost) + 3;
    let room = row.left().saturating_sub(tail).max(10);
    row.column(view.text.as_str(), room, look.style(SpanRole::Text)).put(" ", look.dim());
    row.column(&who, 12, look.style(SpanRole::Detail)).put(" ", look.dim());
    row.column(&doing, 12, style).put(&format!("{old:>7}  {cost}"), look.dim());
    row.line()
}

/// Mark, sign and id.
fn start(board: &Board, view: &TodoRow, width: usize, ids: usize) -> LineBuilder {
    let look = board.look();
    let mut row = LineBuilder::new(look, width);
    let mark = if board.marked().contains(&view.uid) { look.pick("◆", "*") } else { " " };
    row.put(mark, look.key()).put(look.status(view.status), look.status_style(view.status)).put(" ", look.dim());
    row.column(view.id.as_str(), ids, look.style(SpanRole::Id)).put(" ", look.dim());
    row
}

fn todo_row(
    board: &Board,
    panel: BoardPanel,
    reader: PlanReader<'_>,
    todo: &Todo,
    width: usize,
    ids: usize,
) -> Line<'static> {
    let look = board.look();
    let view = TodoRow::of(reader, todo);
    let mut row = start(board, &view, width, ids);
    let notes = match view.notes() {
        0 => String::new(),
        count => look.glyphs.small_count(count),
    };
    // The state is always there as a word too: signs and colors alone say too little.
    let seat = board.data().seat_of(&todo.id);
    // The seat says who works on it and what happens there.
    let is_said = |badge: &&Badge| seat.is_some() && matches!(badge, Badge::Owner { .. });
    let mut words: Vec<String> = view.badges.iter().filter(|badge| !is_said(badge)).filter_map(Badge::words).collect();
    match view.why.is_empty() {
        true if seat.is_some() && view.status == ShownStatus::InProgress => {}
        true => words.push(view.status.word().to_owned()),
        false => words.extend(view.why.iter().map(|why| reason_words(board, todo, why))),
    }
    if view.status == ShownStatus::Stuck && !view.why.is_empty() {
        words.push("stuck".to_owned());
    }
    if panel == BoardPanel::Graph && board.is_critical(todo.uid) {
        words.insert(0, "critical path".to_owned());
    }
    if let Some(seat) = seat {
        if width >= 60 {
            words.push(format!("[{}] {}", seat.seat, Plain::clipped(&seat.agent, 20)));
        }
        words.push(stage(board, seat).0);
    }
    if let Some(tokens_wanted) =
        todo.estimated_tokens.filter(|_| panel == BoardPanel::Next && view.status == ShownStatus::Ready)
    {
        words.push(format!("est {}", tokens(tokens_wanted)));
    }
    if !todo.status.is_open() {
        words.extend(todo.last_check().map(|check| check.outcome()));
    }
    let words = words.join("  ");
    let left = row.left();
    let room = if width < 60 { left.saturating_sub(columns(&words).min(left / 2) + 1) } else { left * 3 / 5 };
    row.column(&format!("{}{notes}", view.text), room, look.style(SpanRole::Text)).put(" ", look.dim());
    let style = match view.status {
        ShownStatus::Failed => look.alarm(),
        status => look.status_style(status),
    };
    row.put(&words, style);
    row.line()
}

/// Why a todo is not worked on. A row has no room for a date, so a timer says how long it still takes.
fn reason_words(board: &Board, todo: &Todo, why: &Plain) -> String {
    let hold = todo.hold.as_ref().filter(|_| why.as_str().starts_with("on hold"));
    match hold.and_then(|hold| Some((hold, hold.until.filter(|until| *until > board.now())?))) {
        Some((hold, until)) if hold.reason.is_empty() => format!("on hold, {} left", span(until - board.now())),
        Some((hold, until)) => {
            format!("on hold, {} left: {}", span(until - board.now()), Plain::text(&hold.reason))
        }
        None => why.to_string(),
    }
}

fn phase_heading(board: &Board, phase: Option<punch_core::PhaseUid>) -> String {
    let Some(plan) = &board.data().plan else { return String::new() };
    let todos = plan.all().filter(|todo| todo.is_live() && todo.phase == phase && !todo.is_parked());
    let progress = Progress::native(todos.map(|todo| todo.status_at(board.now())));
    let name = phase
        .and_then(|uid| plan.phase(uid))
        .map_or_else(|| "No phase".to_owned(), |phase| Plain::text(&phase.name).to_string());
    match progress.total {
        0 => format!("{name} (no todos)"),
        total => format!("{name} ({}/{total})", progress.completed),
    }
}

fn revision_row(board: &Board, entry: &HistoryRow, width: usize) -> Line<'static> {
    let look = board.look();
    let mut row = LineBuilder::new(look, width);
    let unseen = if entry.revision > board.data().seen { look.pick("•", "*") } else { " " };
    row.put(unseen, look.key()).put(&format!("{:>6} ", age(board.now() - entry.at)), look.dim());
    if width >= 60 {
        row.put(&format!("r{:<5} ", entry.revision), look.style(SpanRole::Id));
    }
    let undone = entry.undone_by.map(|by| format!(" (undone by r{by})")).unwrap_or_default();
    let undoes = entry.undoes.map(|of| format!("undid r{of}: ")).unwrap_or_default();
    let by = format!("  by {}", entry.by);
    let text = format!("{undoes}{}{undone}", entry.changes);
    let room = row.left().saturating_sub(columns(&by).min(24));
    let style = if entry.undone_by.is_some() { look.dim() } else { look.style(SpanRole::Text) };
    row.put(&fit(&text, room, look), style).put(&by, look.dim());
    row.line()
}

fn seat_row(board: &Board, seat: &SeatStatus, width: usize) -> Line<'static> {
    let look = board.look();
    let (doing, alarming) = stage(board, seat);
    let mut row = LineBuilder::new(look, width);
    row.put(&format!(" [{}] ", seat.seat), look.bold()).column(
        Plain::clipped(&seat.agent, 20).as_str(),
        10,
        look.style(SpanRole::Text),
    );
    row.column(&doing, 14, if alarming { look.alarm() } else { look.style(SpanRole::Text) });
    row.column(&span(board.now() - seat.since), 7, look.dim());
    row.column(seat.todo.as_deref().map(Plain::id).unwrap_or_default().as_str(), ID, look.style(SpanRole::Id));
    row.put(&format!("{:>6} {:>7}  ", tokens(seat.tokens), dollars(seat.cost)), look.dim());
    // What it said last is about the todo that it had.
    if seat.todo.is_some() {
        row.put(Plain::text(&seat.line).as_str(), look.dim());
    }
    row.line()
}

fn session_row(board: &Board, id: &str, width: usize) -> Line<'static> {
    let look = board.look();
    let Some(session) = board.data().sessions.iter().find(|session| session.id == id) else { return Line::default() };
    let mut row = LineBuilder::new(look, width);
    row.put(" ", look.dim()).column(session.agent.as_str(), 10, look.style(SpanRole::Text));
    row.column(Plain::clipped(&session.id, 12).as_str(), 13, look.style(SpanRole::Id));
    row.put(&format!("continuation {}/{}  ", session.continuation, session.of), look.style(SpanRole::Text));
    let style = if session.switch == Switch::On { look.good() } else { look.warning() };
    row.put(&format!("{}  ", session.switch_word()), style).put(session.decision.as_str(), look.dim());
    row.line()
}
