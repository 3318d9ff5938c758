//! The whole plan in the editor, one line for each todo. Only what the user changed is submitted, so changes by others
//! stay.

use std::collections::HashSet;
use std::path::Path;

use punch_core::dialect::native::TextLimits;
use punch_core::view::edit_sheet::{self, EditedSheet, SheetTodos};
use punch_core::{Document, Todo, Uid, text};
use punch_engine::{EngineError, PlanChange};
use serde_json::json;

use crate::editor::EditorDraft;
use crate::failure::Failure;
use crate::output;
use crate::project::{OpenProject, Project};
use crate::reply::VerbReply;

/// The text above the plan; removed before the text is parsed.
const HEADER: &str = "\
<!-- One line per todo; change, tick, move, add or delete lines, then save and close.
     - [ ] T-4  Write the parser  p1 ~20k #core needs: T-2, T-3
     [ ] open, [>] in progress, [x] done, [-] cancelled, [!] failed; a line without an id is a new todo;
     a deleted line archives its todo; `# name` begins a phase. `punch edit T-4` shows everything about one todo. -->";

/// Todos that the answer names for each thing that happened to them.
const NAMED: usize = 10;

/// Lets the user edit the plan, or continue with a text that was stored.
pub fn run(project: Project, again: Option<&Path>, shown: SheetTodos) -> Result<VerbReply, Failure> {
    let open = project.write()?;
    let (draft, before, original) = match again {
        Some(file) => {
            let (draft, base) = EditorDraft::again(file)?;
            if !base.starts_with('{') {
                let message = format!("`{}` is a draft of one todo", file.display());
                return Err(Failure::usage(&message, "name the todo: `punch edit T-3 --again FILE`"));
            }
            (draft, Document::from_json(&base).map_err(EngineError::from)?.document, None)
        }
        None => {
            let before = Document::of(&open.engine.whole(open.plan)?);
            let original = format!("{HEADER}\n\n{}", edit_sheet::write(&before, shown));
            (EditorDraft::new("plan.md", &original, &before.to_json())?, before, Some(original))
        }
    };
    let edited = draft.edit().and_then(|written| match original {
        Some(original) if original == written => Ok(None),
        _ => read(&written, &before, shown).and_then(|after| submit(&open, &before, &after)).map(Some),
    });
    match edited {
        Ok(changed) => {
            draft.close();
            Ok(reply(changed.as_ref()))
        }
        Err(failure) => {
            draft.keep(if shown == SheetTodos::All { "punch edit --all --again" } else { "punch edit --again" });
            Err(failure)
        }
    }
}

/// Reads what the user left. A line that is not understood is refused: it would be lost.
fn read(written: &str, before: &Document, shown: SheetTodos) -> Result<EditedSheet, Failure> {
    // Lines keep their numbers: errors name them.
    let header = written.starts_with("<!--").then(|| written.find("-->")).flatten();
    let text = header.map_or_else(
        || written.to_owned(),
        |end| "\n".repeat(written[..end].matches('\n').count()) + &written[end + "-->".len()..],
    );
    if text.trim().is_empty() {
        let message = "the text is empty; nothing was changed";
        return Err(Failure::usage(message, "`punch rm --all` archives everything"));
    }
    edit_sheet::read(&text, before, shown).map_err(|refusal| EngineError::from(refusal).into())
}

fn submit(open: &OpenProject, before: &Document, after: &EditedSheet) -> Result<PlanChange, Failure> {
    let settings = &open.project.config.settings;
    let limits = TextLimits { content: settings.limits_content.value, long: settings.limits_long.value };
    let changed = open.engine.submit_document(open.plan, &open.project.request(), before, after, &limits)?;
    let fixed = before.unchangeable(&after.document);
    if let Some(first) = fixed.first() {
        let more = if fixed.len() > 1 { format!(" and {} more", fixed.len() - 1) } else { String::new() };
        let first = text::neutral(first).into_owned();
        output::remark(&format!("note: history and written notes stay as they are: {first}{more}"));
    }
    Ok(changed)
}

fn reply(changed: Option<&PlanChange>) -> VerbReply {
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
    let phases = changed.is_some_and(|c| c.outcome.events.iter().any(|e| e.kind == punch_core::EventKind::Phased));
    let parts = [(added.len(), "added"), (edited.len(), "changed"), (archived.len(), "archived")];
    let mut parts: Vec<String> =
        parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    parts.extend(phases.then(|| "phases changed".to_owned()));
    let text = if parts.is_empty() { "Nothing changed.".to_owned() } else { parts.join(", ") };
    let content = |id: &str| rows.iter().find(|t| t.id == id).map(|t| text::clip(&t.content, 80)).unwrap_or_default();
    let named =
        [("added", &added), ("changed", &edited), ("archived", &archived)].into_iter().flat_map(|(word, ids)| {
            let line = |id: &&str| text::neutral(&format!("  {word} {id}  {}", content(id))).into_owned();
            let more = ids.len().saturating_sub(NAMED);
            let more = (more > 0).then(|| format!("  {word} {more} more"));
            ids.iter().take(NAMED).map(line).chain(more).collect::<Vec<_>>()
        });
    let notes = warnings.iter().take(10).map(|w| format!("note: {}", text::neutral(w)));
    let text = std::iter::once(text).chain(named).chain(notes).collect::<Vec<_>>().join("\n");
    let json = json!({
        "added": added,
        "changed": edited,
        "archived": archived,
        "warnings": warnings,
        "revision": changed.map(|c| c.outcome.plan.revision),
    });
    VerbReply { wrote: changed.is_some(), ..VerbReply::new(text, json) }
}
