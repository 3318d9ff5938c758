//! What a model reads: short lines, capped, with the receipt at the end.

use punch_core::dialect::cursor;
use punch_core::view::Progress;
use punch_core::{Outcome, PlanRow, Status, Todo, Warning, text};
use serde_json::json;

use super::{Answer, Dialect};
use crate::{Changed, EngineError};

/// Cuts a text at a line, and says how many lines are left out.
pub(super) fn capped(full: &str) -> String {
    if full.len() <= Answer::CAP {
        return full.to_owned();
    }
    let room = Answer::CAP - 120;
    let end = (0..=room).rev().find(|at| full.is_char_boundary(*at)).unwrap_or(0);
    let cut = full[..end].rfind('\n').filter(|at| *at > room / 2).unwrap_or(end);
    let left = full[cut..].lines().filter(|line| !line.is_empty()).count();
    format!("{}\n… {left} more lines are not shown; the plan has them all.", &full[..cut])
}

/// What a caller must know about its call: what it finished is only reported, is done although its check failed, or was left
/// out because someone else has claimed it.
pub(super) fn reported(outcome: &Outcome) -> Vec<String> {
    let matters = |warning: &&Warning| {
        matches!(warning, Warning::Reported { .. } | Warning::FailedCheck { .. } | Warning::LeftOut { .. })
    };
    let reported = outcome.warnings.iter().filter(matters);
    reported.take(5).map(|warning| format!("Note: {}", text::neutral(&warning.message()))).collect()
}

/// Refuses what would make the plan larger than a request may make it.
pub(super) const fn within(open: u64, limit: u64) -> Result<(), EngineError> {
    if open > limit { Err(EngineError::TooMany { open, limit }) } else { Ok(()) }
}

/// A refusal as an answer: code, what is wrong, what to do.
pub(super) fn refused(error: &EngineError, dialect: Dialect, revision: u64) -> Answer {
    let message = match error {
        EngineError::Verify(error) => error.short_message(),
        error => error.message(),
    };
    let (code, hint) = (error.code(), error.tool_hint(dialect));
    let text = capped(&format!("Error {code}: {}\nHint: {hint}\nNothing was changed.", lines(&message)));
    let structured = json!({"error": {"code": code, "message": message, "hint": hint}});
    Answer { is_error: true, ..Answer::new(text, structured, revision) }
}

/// Untrusted text on lines of its own.
fn lines(message: &str) -> String {
    message.split('\n').map(|line| text::neutral(line).into_owned()).collect::<Vec<_>>().join("\n")
}

/// The content of a todo inside a sentence.
pub(super) fn short(content: &str) -> String {
    text::clip(&text::neutral(content), 80).into_owned()
}

/// One todo: symbol, id, content.
pub(super) fn line(todo: &Todo, now: i64) -> String {
    let symbol = match todo.status_at(now) {
        Status::Pending if todo.is_blocked(now) => "[.]",
        Status::Pending => "[ ]",
        Status::InProgress => "[>]",
        Status::Completed => "[x]",
        Status::Cancelled => "[-]",
        Status::Failed => "[!]",
    };
    let doubt = match todo.failed_check() {
        Some(_) => " (check failed)",
        None if todo.flags.unchecked => " (unchecked)",
        None => "",
    };
    format!("{symbol} {} {}{doubt}", text::neutral(&todo.id), text::clip(&text::neutral(&todo.content), 200))
}

/// What a native write did: changed todos, what became ready, warnings, progress.
pub(super) fn changed(changed: &Changed, next: &[Todo]) -> String {
    let (plan, now, outcome) = (&changed.plan, changed.now, &changed.outcome);
    let added: Vec<&Todo> = outcome.added.iter().filter_map(|uid| plan.get(*uid)).collect();
    let mut out: Vec<String> = Vec::new();
    if outcome.events.is_empty() {
        out.push("Nothing to change.".into());
    }
    if let Some(undone) = &outcome.undone {
        let verb = if undone.redo { "Redid" } else { "Undid" };
        out.push(format!("{verb} rev {} by {}.", undone.change, text::neutral(&text::clip(&undone.by, 40))));
    }
    const SHOWN: usize = 20;
    // An event for every touched todo would repeat the list; derived changes are not told.
    let told = outcome.rows.iter().filter(|t| {
        outcome.events.iter().any(|e| matches!(&e.patch, punch_core::Patch::Todo(uid, _) if *uid == t.uid))
    });
    let told: Vec<&Todo> = told.filter(|t| !added.iter().any(|a| a.uid == t.uid)).collect();
    for todo in added.iter().chain(&told).take(SHOWN) {
        out.push(if todo.is_live() { line(todo, now) } else { format!("removed {}", text::neutral(&todo.id)) });
    }
    let more = (added.len() + told.len()).saturating_sub(SHOWN);
    if more > 0 {
        out.push(format!("… and {more} more"));
    }
    let ids: Vec<String> = outcome
        .unblocked
        .iter()
        .filter_map(|uid| plan.get(*uid))
        .take(10)
        .map(|t| text::neutral(&t.id).into_owned())
        .collect();
    if !ids.is_empty() {
        let more = outcome.unblocked.len().saturating_sub(ids.len());
        out.push(format!(
            "Now ready: {}{}",
            ids.join(", "),
            if more > 0 { format!(" and {more} more") } else { String::new() }
        ));
    }
    out.extend(outcome.warnings.iter().take(5).map(|w| format!("Note: {}", text::neutral(&w.message()))));
    out.push(progress(&plan.row, next));
    out.join("\n")
}

/// Progress and what to do next, on one line.
pub(super) fn progress(row: &PlanRow, next: &[Todo]) -> String {
    let next = match next.first() {
        Some(todo) if todo.status == Status::InProgress => format!("; in progress: {}", text::neutral(&todo.id)),
        Some(todo) => format!("; next: {} {}", text::neutral(&todo.id), text::clip(&text::neutral(&todo.content), 80)),
        None if row.counts.open() == 0 => String::new(),
        None => "; nothing is ready".to_owned(),
    };
    format!("{}{next}", done(row))
}

/// Progress alone.
pub(super) fn done(row: &PlanRow) -> String {
    let progress = Progress::of_counts(&row.counts);
    format!("{}/{} done", progress.completed, progress.total)
}

/// The list of the cursor dialect with its two hints.
pub(super) fn cursor(answer: &cursor::Answer, mode: cursor::Mode) -> String {
    let mut out: Vec<String> = answer
        .list
        .iter()
        .map(|row| {
            let symbol = match row.status {
                Status::Completed => "[x]",
                Status::InProgress => "[>]",
                Status::Cancelled => "[-]",
                Status::Pending | Status::Failed => "[ ]",
            };
            format!("{symbol} {}: {}", text::neutral(&row.id), text::clip(&text::neutral(&row.content), 200))
        })
        .collect();
    if out.is_empty() {
        out.push("No todos.".into());
    }
    if mode == cursor::Mode::Aggressive {
        let ready = answer.ready();
        if !ready.is_empty() {
            let ids: Vec<String> = ready.iter().map(|id| text::neutral(id).into_owned()).collect();
            out.push(format!("Ready, hand them out to subagents in parallel: {}", ids.join(", ")));
        }
    }
    if cursor::needs_in_progress(&answer.list) {
        out.push("Nothing is in progress: mark the todo you work on as in_progress.".into());
    }
    for id in &answer.folded {
        out.push(format!("Note: {} was given more than once; the last one counts.", text::neutral(id)));
    }
    out.join("\n")
}
