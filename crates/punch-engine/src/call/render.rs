//! What a model reads: short lines, capped, with the receipt at the end.

use std::collections::HashSet;

use punch_core::dialect::cursor;
use punch_core::reason::{self, PlanReader};
use punch_core::view::{Progress, TodoRow, todo_detail};
use punch_core::{EventKind, Outcome, Patch, PlanRow, ShownStatus, Status, Todo, Uid, Warning, text};
use punch_store::{Snapshot, StoreError, Tx};
use serde_json::json;

use super::{CallError, ToolAnswer, ToolWords};
use crate::config::{Settings, Subagents};
use crate::{EngineError, PlanChange, ReadyQuery, ready};

/// Cuts a text at a line, and says how many lines are left out.
pub(super) fn capped(full: &str) -> String {
    if full.len() <= ToolAnswer::CAP {
        return full.to_owned();
    }
    let room = ToolAnswer::CAP - 120;
    let end = (0..=room).rev().find(|at| full.is_char_boundary(*at)).unwrap_or(0);
    let cut = full[..end].rfind('\n').filter(|at| *at > room / 2).unwrap_or(end);
    let left = full[cut..].lines().filter(|line| !line.is_empty()).count();
    format!("{}\n… lines not shown: {left}; the plan has them all.", &full[..cut])
}

/// What a caller must know about its call: what it finished is only reported, is done although its check failed, or was left
/// out because someone else has claimed it.
/// `name` says how the caller calls the todo with an id.
pub(super) fn reported(outcome: &Outcome, name: &dyn Fn(&str) -> String) -> Vec<String> {
    let matters = |warning: &&Warning| {
        matches!(warning, Warning::Reported { .. } | Warning::FailedCheck { .. } | Warning::LeftOut { .. })
    };
    let reported = outcome.warnings.iter().filter(matters);
    let named = |warning: &Warning| {
        let mut warning = warning.clone();
        if let Warning::Reported { id } | Warning::FailedCheck { id, .. } | Warning::LeftOut { id, .. } = &mut warning {
            *id = name(id);
        }
        warning.message()
    };
    reported.take(5).map(|warning| format!("Note: {}", text::neutral(&named(warning)))).collect()
}

/// Refuses what would make the plan larger than a request may make it.
pub(super) const fn within(open: u64, limit: u64) -> Result<(), EngineError> {
    if open > limit { Err(EngineError::TooMany { open, limit }) } else { Ok(()) }
}

/// A refusal as an answer: code, what is wrong, what to do.
pub(super) fn refused(error: &EngineError, words: ToolWords, revision: u64) -> ToolAnswer {
    let message = match error {
        EngineError::Verify(error) => error.short_message(),
        // On one line: names that a caller gave may have line breaks of their own.
        error => text::neutral(&error.message()).into_owned(),
    };
    let (code, hint) = (error.code(), error.tool_hint(words));
    let text = capped(&format!("Error {code}: {}\nHint: {hint}\nNothing was changed.", text::neutral_lines(&message)));
    let structured = json!({"error": {"code": code, "message": message, "hint": hint}});
    let one = |code: &str, message: String| CallError::new(code, message);
    let errors = match error {
        EngineError::Refused(refusals) => {
            refusals.iter().map(|refusal| one(refusal.code(), refusal.message())).collect()
        }
        _ => vec![one(code, message)],
    };
    ToolAnswer { is_error: true, errors, ..ToolAnswer::new(text, structured, revision) }
}

/// The content of a todo inside a sentence.
pub(super) fn short(content: &str) -> String {
    text::clip(&text::neutral(content), 80).into_owned()
}

/// One todo on a line.
pub(super) fn line<'a>(reader: PlanReader<'a>, todo: &'a Todo) -> String {
    TodoRow::of(reader, todo).model_line()
}

/// What someone who begins a todo must know besides its content, a line for each field.
pub(super) fn work(todo: &Todo) -> impl Iterator<Item = String> {
    todo_detail::work(todo).into_iter().map(|field| format!("  {}: {}", field.name, field.value))
}

/// The todos that a write began, which the caller works on from now on.
fn begun<'a>(changed: &'a PlanChange) -> impl Iterator<Item = Uid> + 'a {
    let starts = |kind: EventKind| matches!(kind, EventKind::Started | EventKind::Claimed);
    changed.outcome.events.iter().filter_map(move |event| match &event.patch {
        Patch::Todo(uid, _) if starts(event.kind) => Some(*uid),
        Patch::Todo(..) | Patch::Phases(_) | Patch::Policy(_) => None,
    })
}

/// The todos that a write put on hold.
fn held<'a>(changed: &'a PlanChange) -> impl Iterator<Item = Uid> + 'a {
    let now = changed.now;
    changed.outcome.events.iter().filter_map(move |event| match &event.patch {
        Patch::Todo(uid, _) if event.kind == EventKind::Held => {
            changed.plan.get(*uid).filter(|todo| todo.hold_at(now).is_some()).map(|todo| todo.uid)
        }
        Patch::Todo(..) | Patch::Phases(_) | Patch::Policy(_) => None,
    })
}

/// What a native write did, as its owner sees it: changed todos, what became ready, warnings, progress. Loads what it takes to
/// say why a changed todo waits. Texts that the caller has just written or knows by their id are not repeated: `named` are the
/// todos that it added under an id of its own, now or earlier.
pub(super) fn changed(
    tx: &dyn Tx,
    changed: &mut PlanChange,
    owner: Option<&str>,
    next: Option<&Todo>,
    named: &HashSet<Uid>,
) -> Result<String, EngineError> {
    let touched: Vec<Uid> = changed.outcome.rows.iter().map(|todo| todo.uid).collect();
    ready::load_reasons(tx, &mut changed.plan, &touched)?;
    let changed = &*changed;
    let (plan, outcome) = (&changed.plan, &changed.outcome);
    let reader = PlanReader::of(plan, owner, changed.now);
    let begun: Vec<Uid> = begun(changed).collect();
    let held: Vec<Uid> = held(changed).collect();
    let added: Vec<&Todo> = outcome.added.iter().filter_map(|uid| plan.get(*uid)).collect();
    let mut out: Vec<String> = Vec::new();
    if let Some(undone) = &outcome.undone {
        let verb = if undone.redo { "Redid" } else { "Undid" };
        out.push(format!("{verb} rev {} by {}.", undone.change, text::neutral(&text::clip(&undone.by, 40))));
    }
    const SHOWN: usize = 20;
    // An event for every touched todo would repeat the list; derived changes are not shown.
    let shown = outcome
        .rows
        .iter()
        .filter(|t| outcome.events.iter().any(|e| matches!(&e.patch, Patch::Todo(uid, _) if *uid == t.uid)));
    let shown: Vec<&Todo> = shown.filter(|t| !added.iter().any(|a| a.uid == t.uid)).collect();
    let is_plain = |todo: &&Todo| named.contains(&todo.uid) && todo.status == Status::Pending && todo.hold.is_none();
    let (plain, added): (Vec<&Todo>, Vec<&Todo>) = added.into_iter().partition(is_plain);
    if !plain.is_empty() {
        let ids: Vec<String> = plain.iter().take(SHOWN).map(|todo| text::neutral(&todo.id).into_owned()).collect();
        let more = plain.len() - ids.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        out.push(format!("Added {}{more}", ids.join(", ")));
    }
    for todo in added.iter().chain(&shown).take(SHOWN) {
        out.push(match (todo.is_live(), todo.status) {
            (false, _) => format!("removed {}", text::neutral(&todo.id)),
            (true, Status::Completed | Status::Cancelled) => TodoRow::of(reader, todo).brief_model_line(),
            (true, _) if begun.contains(&todo.uid) && named.contains(&todo.uid) => {
                TodoRow::of(reader, todo).brief_model_line()
            }
            // The caller has just written why.
            (true, _) if held.contains(&todo.uid) && named.contains(&todo.uid) => {
                format!("{} {} (on hold)", reader.shown(todo).check_box(), text::neutral(&todo.id))
            }
            (true, _) => line(reader, todo),
        });
        if begun.contains(&todo.uid) {
            out.extend(work(todo));
        }
    }
    let more = (added.len() + shown.len()).saturating_sub(SHOWN);
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
    let stranded = reason::stranded(reader, &shown);
    out.extend(stranded.into_iter().take(3).map(|stranded| format!("Note: {stranded}")));
    out.extend(outcome.warnings.iter().take(5).map(|w| format!("Note: {}", text::neutral(&w.message()))));
    // What was begun is named above.
    let is_named = next.is_some_and(|next| begun.contains(&next.uid));
    let progress = match (outcome.events.is_empty(), is_named) {
        // How far the work is was in the answer before.
        (true, _) => format!("Nothing to change{}", what_next(&plan.row, next)),
        (false, true) => done(&plan.row),
        (false, false) => progress(&plan.row, next),
    };
    out.push(progress);
    Ok(out.join("\n"))
}

/// Progress and what to do next, on one line.
pub(super) fn progress(row: &PlanRow, next: Option<&Todo>) -> String {
    format!("{}{}", done(row), what_next(row, next))
}

/// The end of a line that says what to do next.
fn what_next(row: &PlanRow, next: Option<&Todo>) -> String {
    match next {
        Some(todo) if todo.status == Status::InProgress => format!("; in progress: {}", text::neutral(&todo.id)),
        Some(todo) => format!("; next: {} {}", text::neutral(&todo.id), text::clip(&text::neutral(&todo.content), 80)),
        None if row.counts.open() == 0 => String::new(),
        None => "; nothing is ready".to_owned(),
    }
}

/// Progress alone.
pub(super) fn done(row: &PlanRow) -> String {
    let progress = Progress::of_counts(&row.counts);
    format!("{}/{} done", progress.completed, progress.total)
}

/// Todos that are handed out at once.
const HANDED_OUT: usize = 10;

/// Asks an agent to give ready todos to subagents.
fn hand_out<T: AsRef<str>>(ids: &[T]) -> String {
    let shown: Vec<String> = ids.iter().take(HANDED_OUT).map(|id| text::neutral(id.as_ref()).into_owned()).collect();
    let more = ids.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("Ready, hand them out to subagents in parallel: {}{more}", shown.join(", "))
}

/// Asks an agent to give what is ready to subagents, if the user wants that and there is more than one todo for them.
pub(crate) fn parallel(
    snapshot: &dyn Snapshot,
    settings: Option<&Settings>,
    query: &ReadyQuery<'_>,
    label: impl Fn(&Todo) -> String,
) -> Result<Option<String>, StoreError> {
    if settings.is_none_or(|settings| settings.subagents.value != Subagents::Aggressive) {
        return Ok(None);
    }
    let ready = query.ready(snapshot, HANDED_OUT)?;
    let ids: Vec<String> = ready.iter().map(label).collect();
    Ok((ids.len() > 1).then(|| hand_out(&ids)))
}

/// The list of the cursor dialect with its two hints.
pub(super) fn cursor(answer: &cursor::CursorAnswer, mode: cursor::DelegationMode) -> String {
    let mut out: Vec<String> = answer
        .list
        .iter()
        .map(|row| {
            // This dialect shows failed todos as not started.
            let status = if row.status == Status::Failed { Status::Pending } else { row.status };
            let symbol = ShownStatus::from(status).check_box();
            format!("{symbol} {}: {}", text::neutral(&row.id), text::clip(&text::neutral(&row.content), 200))
        })
        .collect();
    if out.is_empty() {
        out.push("No todos.".into());
    }
    if mode == cursor::DelegationMode::Aggressive {
        let ready = answer.ready();
        if !ready.is_empty() {
            out.push(hand_out(&ready));
        }
    }
    if cursor::needs_in_progress(&answer.list) {
        out.push("Nothing is in progress: mark the todo you work on as in_progress.".into());
    }
    for id in &answer.folded {
        out.push(format!("Note: {} occurs more than once; the last one counts.", text::neutral(id)));
    }
    out.join("\n")
}
