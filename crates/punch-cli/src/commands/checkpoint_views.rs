//! Checkpoints in words and as JSON.

use punch_core::view::Layout;
use punch_core::{Status, text};
use punch_engine::{Code, CommitVerdict, Differs, GitState, RestoreResult, RestoredTodo, SavedCheckpoint};
use serde_json::{Value, json};

use crate::reply::VerbReply;
use crate::safety::count;

/// The number of ids that are named in a line, and of todos that are listed in a table.
const NAMED: usize = 20;

/// One line.
pub fn line(saved: &SavedCheckpoint) -> String {
    let todos = &saved.todos;
    let work = format!("{} done, {} left", todos.completed.len(), todos.remaining.len());
    let git = saved.git.as_ref().map(|git| format!("  {}", place(git))).unwrap_or_default();
    let notes = saved.notes.as_ref().map(|notes| format!("  {}", text::clip(&text::neutral(notes), 80)));
    format!("{}  {work}{git}{}", saved.id, notes.unwrap_or_default())
}

/// Branch and commit, and whether all is committed.
fn place(git: &GitState) -> String {
    let branch = git.branch.as_deref().map_or_else(|| "detached".into(), |branch| text::neutral(branch).into_owned());
    let dirty = if git.dirty {
        format!(" with {} not committed", count(git.modified_total as u64, "file"))
    } else {
        String::new()
    };
    format!("{branch} {}{dirty}", short(git.commit.as_deref()))
}

fn short(commit: Option<&str>) -> String {
    commit.map_or_else(|| "without a commit".into(), |commit| commit.get(..12).unwrap_or(commit).to_owned())
}

/// Many.
pub fn list(all: &[SavedCheckpoint], layout: Layout) -> VerbReply {
    // In a pipe the name says when it was made.
    let when = |saved: &SavedCheckpoint| layout.width.map(|_| format!("  {}", layout.moment(saved.at)));
    let lines: Vec<String> =
        all.iter().map(|saved| format!("{}{}", line(saved), when(saved).unwrap_or_default())).collect();
    let text = if lines.is_empty() { "No checkpoints.".to_owned() } else { lines.join("\n") };
    let all: Vec<Value> = all.iter().map(|saved| saved.answer(false)).collect();
    VerbReply::new(text, json!({"checkpoints": all}))
}

/// Everything about one.
pub fn whole(saved: &SavedCheckpoint, layout: Layout) -> String {
    let mut out = vec![
        line(saved),
        format!("made {} at revision {} of {}", layout.moment(saved.at), saved.revision, text::neutral(&saved.plan)),
    ];
    let todos = &saved.todos;
    for (name, ids) in [
        ("completed", &todos.completed),
        ("remaining", &todos.remaining),
        ("blocked", &todos.blocked),
        ("in progress", &todos.in_progress_all),
        ("cancelled", &todos.cancelled),
        ("failed", &todos.failed),
        ("verified", &saved.verification.verified),
        ("stale", &saved.verification.stale),
    ] {
        if !ids.is_empty() {
            out.push(format!("{name}: {}", names(ids)));
        }
    }
    if let Some(git) = &saved.git {
        if git.dirty {
            out.push(format!("not committed: {}", some(&git.modified, git.modified_total)));
        }
        if let Some(why) = &git.patch_left_out {
            out.push(format!("the patch was not stored: {}", text::neutral(why)));
        }
        if git.untracked_total > 0 {
            out.push(format!("untracked: {}", some(&git.untracked, git.untracked_total)));
        }
    }
    out.join("\n")
}

fn names(ids: &[String]) -> String {
    some(ids, ids.len())
}

fn some(ids: &[String], total: usize) -> String {
    let shown: Vec<String> = ids.iter().take(NAMED).map(|id| text::clip(&text::neutral(id), 80).into_owned()).collect();
    let more = total.saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// What changed since.
pub fn diff(saved: &SavedCheckpoint, differs: &[Differs], code: &Code) -> VerbReply {
    let word = |status: Option<Status>| status.map_or("–", Status::name);
    let mut lines: Vec<String> = differs
        .iter()
        .take(200)
        .map(|d| format!("{:12} -> {:12} {}", word(d.then), word(d.now), text::clip(&text::neutral(&d.id), 80)))
        .collect();
    if differs.len() > 200 {
        lines.push(format!("and {} more", differs.len() - 200));
    }
    let (then, now) = (saved.git.as_ref().map(place), code.state.as_ref().map(place));
    if then != now {
        let say = |place: Option<String>| place.unwrap_or_else(|| "no git".into());
        lines.push(format!("code: {}, now {}", say(then), say(now)));
    }
    let text = if lines.is_empty() { "Nothing changed.".to_owned() } else { lines.join("\n") };
    let commit = |git: Option<&GitState>| json!({"branch": git.and_then(|g| g.branch.as_ref()), "commit": git.and_then(|g| g.commit.as_ref())});
    let git = json!({"then": commit(saved.git.as_ref()), "now": commit(code.state.as_ref())});
    VerbReply::new(text, json!({"checkpoint": saved.id, "todos": differs, "git": git}))
}

/// What a restore did.
pub fn restored(restored: &RestoreResult, code: &Code) -> String {
    let mut out = vec![match &restored.safety {
        Some(safety) => format!("restored {}; the previous state was saved as {safety}", restored.saved.id),
        None => format!("restored {}; nothing needed to change", restored.saved.id),
    }];
    for (verdict, files_lost, why) in [
        (CommitVerdict::Valid, false, "the commit is in the history"),
        (CommitVerdict::Stale, false, "the commit is not in the history"),
        (CommitVerdict::Stale, true, "the files no longer contain the work"),
        (CommitVerdict::Unknown, false, "no commit to check"),
    ] {
        let is = |judged: &&RestoredTodo| (judged.verdict, judged.files_lost) == (verdict, files_lost);
        let ids: Vec<String> = restored.judged.iter().filter(is).map(|judged| judged.id.clone()).collect();
        if !ids.is_empty() {
            out.push(format!("{:8} {} ({why})", verdict.name(), names(&ids)));
        }
    }
    for (name, ids) in [("reopened", &restored.reopened), ("newer, unchanged", &restored.newer)] {
        if !ids.is_empty() {
            out.push(format!("{name}: {}", names(ids)));
        }
    }
    if !restored.gone.is_empty() {
        out.push(format!("archived since, left archived: {}", count(restored.gone.len() as u64, "todo")));
    }
    if let Some(next) = &restored.next {
        out.push(format!("next: {}", text::neutral(next)));
    }
    let commands = restored.saved.way_back(code);
    if !commands.is_empty() {
        out.push("your files were not touched; to restore the code of the checkpoint, run".into());
        out.extend(commands.into_iter().map(|command| format!("  {command}")));
    }
    out.join("\n")
}
