//! The whole plan in the editor, as native Markdown. Only what the person changed is asked for, so what others
//! changed meanwhile stays.

use std::collections::HashSet;
use std::path::Path;

use punch_core::dialect::native::Limits;
use punch_core::view::{markdown, markdown_read};
use punch_core::{Document, Refusal, Todo, Uid, text};
use punch_engine::{Changed, EngineError};
use serde_json::json;

use crate::editor::Draft;
use crate::failure::Failure;
use crate::output;
use crate::project::{Open, Project};
use crate::reply::Reply;

/// What stands above the plan. A comment, and taken out again before the text is read.
const HEADER: &str = "<!-- Change, tick, move, add or delete lines, then save and close. `- [ ] text` is a new todo; \
                      deleted ones are archived; notes (>) can only be added. -->";

/// Lets the user edit the plan, or continue with a text that was stored.
pub fn run(project: Project, again: Option<&Path>) -> Result<Reply, Failure> {
    let open = project.write()?;
    let (draft, before, shown) = match again {
        Some(file) => {
            let (draft, base) = Draft::again(file)?;
            (draft, Document::from_json(&base).map_err(EngineError::from)?.document, None)
        }
        None => {
            let before = Document::of(&open.engine.whole(open.plan)?);
            let shown = format!("{HEADER}\n\n{}", markdown::write(&before, None));
            (Draft::new("plan.md", &shown, &before.to_json())?, before, Some(shown))
        }
    };
    let edited = draft.edit().and_then(|written| match shown {
        Some(shown) if shown == written => Ok(None),
        _ => read(&written).and_then(|after| submit(&open, &before, &after)).map(Some),
    });
    match edited {
        Ok(changed) => {
            draft.close();
            Ok(reply(changed.as_ref()))
        }
        Err(failure) => {
            draft.keep("punch edit --again");
            Err(failure)
        }
    }
}

/// Reads what the person left. Stricter than an import: a line that is not understood would be lost.
fn read(written: &str) -> Result<Document, Failure> {
    // By its first words: replacing every box in the editor changes the header too.
    let headed = written.starts_with(&HEADER[..HEADER.find(',').unwrap_or(HEADER.len())]);
    let text = if headed { &written[written.find('\n').unwrap_or(written.len())..] } else { written };
    if text.trim().is_empty() {
        let message = "the text is empty; nothing was changed";
        return Err(Failure::usage(message, "`punch rm --all` archives everything"));
    }
    let refuse = |refusal: Refusal| Failure::from(EngineError::from(refusal));
    let parsed = markdown_read::read(text).map_err(|refusal| match refusal {
        // One line each, for a person who goes back to them.
        Refusal::Invalid { at, what } => refuse(Refusal::Invalid { at, what: what.replace("; line ", "\nline ") }),
        other => refuse(other),
    })?;
    if parsed.ignored.is_empty() {
        return Ok(parsed.document);
    }
    let names = parsed.ignored.into_iter().collect::<Vec<_>>().join(", ");
    let what = format!("not understood: {names}; write todos as `- [ ] text`, notes as `  > text`");
    Err(refuse(Refusal::Invalid { at: String::new(), what }))
}

fn submit(open: &Open, before: &Document, after: &Document) -> Result<Changed, Failure> {
    let settings = &open.project.config.settings;
    let limits = Limits { content: settings.limits_content.value, long: settings.limits_long.value };
    let changed = open.engine.submit_document(open.plan, &open.project.request(), before, after, &limits)?;
    let fixed = before.unchangeable(after);
    if let Some(first) = fixed.first() {
        let more = if fixed.len() > 1 { format!(" and {} more", fixed.len() - 1) } else { String::new() };
        let first = text::neutral(first).into_owned();
        output::remark(&format!("note: history and written notes stay as they are: {first}{more}"));
    }
    Ok(changed)
}

fn reply(changed: Option<&Changed>) -> Reply {
    let rows: &[Todo] = changed.map_or(&[], |c| &c.outcome.rows);
    let added: Vec<&str> = changed
        .iter()
        .flat_map(|c| c.outcome.added.iter().filter_map(|uid| c.plan.get(*uid)))
        .map(|t| t.id.as_str())
        .collect();
    let new: HashSet<Uid> = changed.iter().flat_map(|c| c.outcome.added.iter().copied()).collect();
    let touched = |t: &&Todo| changed.is_some_and(|c| t.updated_at == c.now && !new.contains(&t.uid));
    let archived: Vec<&str> = rows.iter().filter(|t| !t.is_live()).map(|t| t.id.as_str()).collect();
    let edited: Vec<&str> = rows.iter().filter(|t| t.is_live()).filter(touched).map(|t| t.id.as_str()).collect();
    let warnings: Vec<String> =
        changed.iter().flat_map(|c| c.outcome.warnings.iter().map(punch_core::Warning::message)).collect();
    let phases = changed.is_some_and(|c| c.outcome.events.iter().any(|e| e.kind == punch_core::Kind::Phased));
    let parts = [(added.len(), "added"), (edited.len(), "changed"), (archived.len(), "archived")];
    let mut parts: Vec<String> =
        parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    parts.extend(phases.then(|| "phases changed".to_owned()));
    let text = if parts.is_empty() { "Nothing changed.".to_owned() } else { parts.join(", ") };
    let notes = warnings.iter().take(10).map(|w| format!("note: {}", text::neutral(w)));
    let text = std::iter::once(text).chain(notes).collect::<Vec<_>>().join("\n");
    let json = json!({
        "added": added,
        "changed": edited,
        "archived": archived,
        "warnings": warnings,
        "revision": changed.map(|c| c.outcome.plan.revision),
    });
    Reply { wrote: changed.is_some(), ..Reply::new(text, json) }
}
