//! Reminders: few and short, and none while todos are progressing. Each has a reason, and all share one budget.

use super::{Counters, HostEvent, NamedTodo, PlanFacts, Reminding, ToolKind, Vocabulary, estimate, quote};
use crate::text::shell;

/// Uses of tools without a change of the list after which it is remembered.
const QUIET: u32 = 10;
/// Changes of files without a todo in progress.
const EDITS: u32 = 4;
/// Uses of tools after which a session without a list is told that there is one.
const BUSY: u32 = 12;

/// The kinds of reminders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nudge {
    /// There is much work and no list.
    FirstUse,
    /// The list was not touched for long.
    Quiet,
    /// Files change while nothing is in progress.
    AfterEdits,
    /// The list could not be written.
    FailedWrite,
}

/// Which reminder may be due, judged without a look at the plan: most reports end here.
pub fn due(counters: &Counters, event: &HostEvent, bound: bool, rules: Reminding) -> Option<Nudge> {
    if !rules.enabled || counters.hushed || counters.asked || counters.interrupted {
        return None;
    }
    match event {
        HostEvent::ToolFailed { tool, interrupted: false, .. }
            if matches!(tool.kind, ToolKind::Ours | ToolKind::HostTodo) =>
        {
            Some(Nudge::FailedWrite)
        }
        HostEvent::ToolEnded { tool } if matches!(tool.kind, ToolKind::Edit | ToolKind::Command | ToolKind::Other) => {
            match bound {
                true if counters.quiet >= QUIET => Some(Nudge::Quiet),
                true if counters.edits >= EDITS => Some(Nudge::AfterEdits),
                false if counters.quiet >= BUSY && counters.edits >= 2 && !counters.introduced => Some(Nudge::FirstUse),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The text of a reminder, counted; nothing where it would be out of place: when everything is done, or when nothing
/// can be done. Whether it was given or not, the next one is as far away again.
pub fn nudge(
    nudge: Nudge,
    facts: &PlanFacts,
    words: Vocabulary,
    counters: &mut Counters,
    rules: Reminding,
) -> Option<String> {
    let text = match (nudge, &facts.next) {
        (Nudge::FirstUse, _) => {
            counters.introduced = true;
            Some("punch keeps a todo list for this project. For work of three or more steps, write the steps down with the todo tool.".to_owned())
        }
        (Nudge::FailedWrite, _) => Some(
            // Whether a part was applied is known to the answer alone.
            "That todo call had errors. Its answer says what was applied: correct the rest once, and continue."
                .to_owned(),
        ),
        (Nudge::Quiet, Some(next)) => Some(format!(
            "{} and the list has not changed for a while. {} If it is done, mark it; if not, continue.",
            facts.open_of_total(),
            named(next, words)
        )),
        (Nudge::AfterEdits, Some(next)) if !next.running => Some(format!(
            "You are editing files, but no todo is in progress. {} Mark the one you are working on.",
            named(next, words)
        )),
        (Nudge::AfterEdits | Nudge::Quiet, _) => None,
    };
    if matches!(nudge, Nudge::Quiet | Nudge::FirstUse) {
        counters.quiet = 0;
    }
    counters.edits = 0;
    within(text, counters, rules)
}

/// What to do after a tool failed `times` in a row on the todo in progress: one retry, then give up.
pub fn advice(
    todo: &NamedTodo,
    times: u32,
    words: Vocabulary,
    counters: &mut Counters,
    rules: Reminding,
) -> Option<String> {
    let name = words.name(&todo.id, &todo.content);
    let text = match times {
        1 => format!("A tool failed while {name} is in progress. Try once more, in another way."),
        2 => {
            let how = match words {
                Vocabulary::Full => "mark it failed with the reason".to_owned(),
                Vocabulary::StatusAlone | Vocabulary::StatusByText => "say so".to_owned(),
                Vocabulary::StatusOnly => {
                    format!("say so (`punch fail {} --error WHY` in a shell puts it on record)", shell(&name))
                }
            };
            format!(
                "Tools failed twice while {name} is in progress. If it cannot be done, {how} and take the next todo."
            )
        }
        _ => return None,
    };
    within(Some(text), counters, rules)
}

fn named(next: &NamedTodo, words: Vocabulary) -> String {
    let what = if next.running { "In progress" } else { "Next" };
    let id = if words.takes_ids() { format!("{} ", quote(&next.id, 60)) } else { String::new() };
    format!("{what}: {id}\"{}\".", quote(&next.content, 80))
}

fn within(text: Option<String>, counters: &mut Counters, rules: Reminding) -> Option<String> {
    let text = text.filter(|_| rules.enabled)?;
    let cost = estimate(&text) as u64;
    if counters.reminded + cost > rules.tokens {
        // Nothing shorter would do; so this was the end of it.
        counters.hushed = true;
        return None;
    }
    counters.reminded += cost;
    Some(text)
}
