//! What a write changed on one todo, one line per field: the answer to `edit`, `hold` and `note`.

use super::{Layout, Plain, SpanRole, ViewLine};
use crate::text::grouped;
use crate::{Dep, Event, EventKind, FieldChange, Hold, Label, Patch, Phase, Plan, Status, Swap, Uid, Verify};

/// Characters of a value.
const VALUE: usize = 200;

/// The changed fields of a todo. Fields that the answer shows anyway, such as the status, are left out; of a new todo only
/// what it needs is named.
pub fn lines(plan: &Plan, events: &[Event], uid: Uid, layout: Layout) -> Vec<ViewLine> {
    let mut out = Vec::new();
    for event in events {
        let Patch::Todo(of, changes) = &event.patch else { continue };
        if *of != uid {
            out.extend(changes.iter().filter_map(|change| blocked(plan, change, *of, uid)));
            continue;
        }
        for change in changes {
            if let FieldChange::Status(Swap { before: Status::Failed, after: Status::InProgress }) = change {
                out.push(ViewLine::default().with(SpanRole::Detail, format!("  {}", tried_again(plan, uid))));
            }
            if let FieldChange::Status(Swap { before: Status::Cancelled, after: Status::InProgress }) = change {
                out.push(ViewLine::default().with(SpanRole::Detail, "  it was cancelled and is open again"));
            }
            if event.kind != EventKind::Added || matches!(change, FieldChange::DependsOn(_)) {
                out.extend(describe(plan, change, layout));
            }
        }
    }
    out
}

/// Another todo that needs this one from now on.
fn blocked(plan: &Plan, change: &FieldChange, other: Uid, uid: Uid) -> Option<ViewLine> {
    let FieldChange::DependsOn(it) = change else { return None };
    let is_new = |dep: &Dep| dep.target() == Some(uid) && !it.removed.contains(dep);
    let other = plan.get(other).filter(|_| it.added.iter().any(is_new))?;
    Some(field("blocks", &format!("{}  {}", Plain::id(&other.id), clipped(&other.content))))
}

fn describe(plan: &Plan, change: &FieldChange, layout: Layout) -> Vec<ViewLine> {
    let swap = |name: &'static str, before: Option<String>, after: Option<String>| {
        vec![field(
            name,
            &match (before, after) {
                (Some(before), Some(after)) => {
                    format!("{} {} {}", clipped(&before), layout.glyphs.arrow(false), clipped(&after))
                }
                (None, Some(after)) => clipped(&after),
                (Some(before), None) => format!("{} removed", clipped(&before)),
                (None, None) => return Vec::new(),
            },
        )]
    };
    match change {
        FieldChange::Id(it) => swap("id", Some(it.before.clone()), Some(it.after.clone())),
        FieldChange::Content(it) => swap("text", Some(it.before.clone()), Some(it.after.clone())),
        FieldChange::ActiveForm(it) => swap("active form", it.before.clone(), it.after.clone()),
        FieldChange::Description(it) => swap("description", it.before.clone(), it.after.clone()),
        FieldChange::Phase(it) => {
            let name = |uid: Option<crate::PhaseUid>| {
                let phase: Option<&Phase> = uid.and_then(|uid| plan.row.phases.iter().find(|phase| phase.uid == uid));
                phase.map(|phase| phase.name.clone())
            };
            swap("phase", name(it.before), name(it.after))
        }
        FieldChange::Priority(it) => swap("priority", Some(it.before.to_string()), Some(it.after.to_string())),
        FieldChange::Complexity(it) => {
            let name = |size: Option<crate::Complexity>| size.map(|size| size.name().to_owned());
            swap("size", name(it.before), name(it.after))
        }
        FieldChange::EstimatedTokens(it) => swap("tokens", it.before.map(grouped), it.after.map(grouped)),
        FieldChange::Criteria(it) => swap("criteria", it.before.clone(), it.after.clone()),
        FieldChange::Verify(it) => {
            swap("verify", it.before.as_ref().map(Verify::line), it.after.as_ref().map(Verify::line))
        }
        FieldChange::Hold(it) => match (&it.before, &it.after) {
            (_, Some(hold)) if hold.is_parked_without_words() => {
                vec![ViewLine::default().with(SpanRole::Detail, format!("  {}", Hold::PARKED))]
            }
            (_, Some(hold)) => vec![field(hold.word(), &hold_words(hold, layout))],
            (Some(hold), None) => {
                vec![ViewLine::default().with(SpanRole::Detail, format!("  no longer {}", hold.word()))]
            }
            (None, None) => Vec::new(),
        },
        FieldChange::Labels(it) => {
            let sign = |sign: &'static str, labels: &std::collections::BTreeSet<Label>| -> Vec<String> {
                labels.iter().map(|label| format!("{sign}{}", label.as_str())).collect()
            };
            let all = [sign("+", &it.added), sign("-", &it.removed)].concat();
            vec![field("labels", &clipped(&all.join(" ")))]
        }
        FieldChange::DependsOn(it) => {
            let name = |dep: &Dep| match dep {
                Dep::Dangling(id) => format!("{} (unknown)", Plain::id(id)),
                Dep::On(uid) | Dep::Suspended(uid) => match plan.get(*uid) {
                    Some(todo) => format!("{}  {}", Plain::id(&todo.id), Plain::clipped(&todo.content, 80)),
                    None => format!("#{}", uid.0),
                },
            };
            let added = it.added.iter().filter(|dep| !it.removed.contains(dep));
            let removed = it.removed.iter().filter(|dep| !it.added.contains(dep));
            let added = added.map(|dep| field("needs", &name(dep)));
            added.chain(removed.map(|dep| field("no longer needs", &name(dep)))).collect()
        }
        FieldChange::Files(it) => {
            let sign = |sign: &str, files: &[String]| -> Vec<String> {
                files.iter().map(|file| format!("{sign}{file}")).collect()
            };
            let all = [sign("+", &it.added), sign("-", &it.removed)].concat();
            vec![field("files", &clipped(&all.join(" ")))]
        }
        FieldChange::Notes(it) => it.added.iter().map(|note| field("note", &clipped(&note.text))).collect(),
        FieldChange::LastError(it) => swap("error", None, it.after.clone()),
        _ => Vec::new(),
    }
}

/// A todo that had failed for good is tried again: it says so, because nothing else of the answer does.
fn tried_again(plan: &Plan, uid: Uid) -> String {
    match plan.get(uid).map_or(0, |todo| todo.attempts) {
        0 => "retrying after it failed".to_owned(),
        1 => "retrying after 1 failed attempt".to_owned(),
        many => format!("retrying after {many} failed attempts"),
    }
}

fn hold_words(hold: &Hold, layout: Layout) -> String {
    let until = hold.until.map(|until| format!(", until {}", layout.moment(until))).unwrap_or_default();
    format!("{}{until}", clipped(&hold.described()))
}

fn clipped(text: &str) -> String {
    Plain::clipped(text, VALUE).to_string()
}

fn field(name: &str, value: &str) -> ViewLine {
    ViewLine::default().with(SpanRole::Heading, format!("  {name}: ")).with(SpanRole::Text, value)
}
