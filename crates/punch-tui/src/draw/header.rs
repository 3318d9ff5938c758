//! The line at the top: the plan, how far it is, the run and what it costs, and whether the picture is live.

use punch_core::view::Progress;
use punch_engine::dollars;
use punch_store::RequestedState;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::line::{columns, fit, span, tokens};
use crate::board::{Board, NARROW};

/// Columns of the bar of progress, and on a screen that has little room.
const BAR: usize = 10;
const SHORT_BAR: usize = 5;
/// From this width on everything is written out.
const ROOMY: usize = 100;

pub(super) fn header(board: &Board, width: usize) -> Line<'static> {
    let (look, data) = (board.look(), board.data());
    let (state, style) = state(board);
    let room = width.saturating_sub(columns(&state) + 2);
    let (is_narrow, is_roomy) = (width < usize::from(NARROW.0), width >= ROOMY);
    let mut parts: Vec<String> = Vec::new();
    if let Some(plan) = &data.plan {
        let progress = Progress::of_counts(&plan.row.counts);
        parts.push(format!("{} r{}", data.name, plan.row.revision));
        let bar = bar(progress, if is_roomy { BAR } else { SHORT_BAR }, look.pick("█", "#"), look.pick("░", "."));
        let Progress { completed, total, .. } = progress;
        parts.push(match is_narrow {
            true => format!("{completed}/{total}"),
            false => format!("{bar} {completed}/{total} ({}%)", progress.percent()),
        });
    } else {
        parts.push("no plan yet".to_owned());
    }
    if let Some(run) = data.run.as_ref().filter(|run| run.is_running) {
        let wanted = match run.wanted {
            RequestedState::Go => "",
            RequestedState::Pause => "paused",
            RequestedState::Stop => "stopping",
        };
        match (is_roomy, wanted) {
            (true, wanted) => parts.push(format!("run {} {wanted}", run.number).trim_end().to_owned()),
            (false, "") => {}
            (false, wanted) => parts.push(wanted.to_owned()),
        }
        if !is_narrow {
            parts.push(match run.seats.len() {
                1 => "1 seat".to_owned(),
                more => format!("{more} seats"),
            });
        }
        let gap = if is_roomy { " of " } else { "/" };
        let of = |used: String, limit: Option<String>| match limit {
            Some(limit) => format!("{used}{gap}{limit}"),
            None => used,
        };
        parts.push(of(dollars(run.spent.cost), run.limits.cost.map(dollars)));
        if is_roomy {
            parts.push(format!("{} tokens", of(tokens(run.spent.tokens), run.limits.tokens.map(tokens))));
        }
        let limit = run.limits.time.map(|ms| span(i64::try_from(ms).unwrap_or(i64::MAX)));
        parts.push(of(span(board.now() - run.started_at), limit));
    }
    let dot = look.pick(" · ", " - ");
    // Parts that do not fit are left out from the end.
    let mut text = if is_narrow { " " } else { " punch  " }.to_owned();
    for (at, part) in parts.iter().enumerate() {
        let gap = if at == 0 { "" } else { dot };
        if columns(&text) + columns(gap) + columns(part) > room && at > 0 {
            break;
        }
        text.push_str(gap);
        text.push_str(part);
    }
    let text = fit(&text, room, look);
    let fill = " ".repeat(width.saturating_sub(columns(&text) + columns(&state) + 1));
    Line::from(vec![Span::styled(text, look.bold()), Span::raw(fill), Span::styled(state, style)])
}

/// Whether what is shown is what is stored.
fn state(board: &Board) -> (String, Style) {
    let (look, data) = (board.look(), board.data());
    if let Some((why, since)) = &data.trouble {
        let seconds = (board.now() - since).max(0) / 1000;
        return (format!("store: {why}, trying again ({seconds} s)"), look.alarm());
    }
    if data.failed_write.is_some() {
        return ("STALE: the last write failed".to_owned(), look.warning());
    }
    (format!("live {}", look.pick("●", "*")), look.good())
}

fn bar(progress: Progress, columns: usize, full: &str, rest: &str) -> String {
    let done = (progress.percent() as usize * columns / 100).min(columns);
    format!("{}{}", full.repeat(done), rest.repeat(columns - done))
}

/// The plan on one line, for a screen that has no room for more.
pub fn one_line(board: &Board, width: usize) -> Line<'static> {
    let data = board.data();
    let counts = data.plan.as_ref().map(|plan| Progress::of_counts(&plan.row.counts)).unwrap_or_default();
    let needs = match data.inbox.len() {
        0 => String::new(),
        more => format!("!{more} "),
    };
    let working = board.working();
    let text = format!("{needs}{}/{} {working} working", counts.completed, counts.total);
    Line::from(fit(&text, width, board.look()))
}
