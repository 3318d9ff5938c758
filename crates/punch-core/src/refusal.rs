//! Refusals: which rule forbids a change, with a stable code, the relevant values, and a hint whose command works.

use crate::field::in_words;
use crate::reason::{Cause, WaitReason};
use crate::{Label, Status, text, time};

/// The reason why a rule refused a batch; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The call has the wrong shape.
    Invalid {
        /// Where in the call, for example `todos[2].status`.
        at: String,
        /// The error at that place.
        what: String,
    },
    /// Two items of one payload, or a payload and the plan, have the same id.
    DuplicateId {
        /// The id.
        id: String,
    },
    /// No live todo has that id.
    UnknownTodo {
        /// The id that was given.
        id: String,
        /// Ids that look like it.
        near: Vec<String>,
    },
    /// A dependency names an unknown id.
    UnknownDependency {
        /// The todo that was to depend on it.
        id: String,
        /// The missing id.
        missing: String,
        /// Ids that look like it.
        near: Vec<String>,
    },
    /// The edges would close a cycle.
    Cycle {
        /// Ids along the cycle, the first repeated at the end.
        path: Vec<String>,
    },
    /// The todo is blocked, on hold or empty.
    NotReady {
        /// The todo.
        id: String,
        /// The unmet dependencies, and reasons in the todo itself.
        reasons: Vec<WaitReason>,
    },
    /// The owner has something else in progress.
    InProgressLimit {
        /// The todo that was to start.
        id: String,
        /// What is in progress, or would be after an earlier op of the same batch.
        running: String,
        /// True if both were to start in one call, so that neither is in progress.
        together: bool,
    },
    /// The status does not allow it.
    Transition {
        /// The todo.
        id: String,
        /// The op.
        op: &'static str,
        /// The status of the todo.
        status: Status,
    },
    /// Someone else has claimed it.
    Leased {
        /// The todo.
        id: String,
        /// The owner of the claim; `None` is the user.
        owner: Option<String>,
        /// When the claim ends unless it is renewed; `None` if never.
        until: Option<i64>,
        /// A todo that is free instead, where the caller looked for one.
        free: Option<String>,
    },
    /// The claim that this answer belongs to is over.
    StaleFence {
        /// The todo.
        id: String,
        /// The fence given.
        given: u64,
        /// The fence now.
        current: u64,
    },
    /// The plan requires a passed check first.
    NeedsVerification {
        /// The todo.
        id: String,
    },
    /// The plan requires evidence in words for a todo without a verify command.
    NeedsEvidence {
        /// The todo.
        id: String,
    },
    /// The last check that was seen failed.
    FailingCheck {
        /// The todo.
        id: String,
        /// The command.
        command: String,
        /// How it ended, as the end of a sentence.
        outcome: String,
    },
    /// The plan asks the agent for a check that passes.
    NeedsCheck {
        /// The todo.
        id: String,
        /// A check passed, and files were changed after it.
        outdated: bool,
    },
    /// A batch removes a todo and uses it.
    RemovedInBatch {
        /// The todo.
        id: String,
    },
    /// A text is too long.
    TooLong {
        /// The field that is too long.
        field: &'static str,
        /// The length of the text.
        length: usize,
        /// How long it may be.
        limit: usize,
    },
    /// The phase does not exist.
    UnknownPhase {
        /// The name that was given.
        name: String,
        /// Names that look like it.
        near: Vec<String>,
    },
    /// The revision cannot be undone because later ones changed the same fields.
    RevertConflict {
        /// The revision; of a redo, the change that was to be in force again.
        revision: u64,
        /// True if a redo was requested.
        redo: bool,
        /// Todo id and field, each once.
        fields: Vec<(String, &'static str)>,
    },
    /// There is no such revision.
    UnknownRevision {
        /// The revision that was given.
        revision: u64,
    },
    /// The revision is already undone.
    AlreadyUndone {
        /// The revision.
        revision: u64,
        /// The undo that is still in force.
        by: u64,
    },
    /// Undo can revert no part of the revision, or everything already is as it was before it.
    NothingUndoable {
        /// The revision.
        revision: u64,
        /// What it has that is never undone, in words.
        stays: Vec<String>,
    },
    /// The actor has made no change that is still in force.
    NothingToUndo {
        /// The latest change by someone else that is still in force, and its author.
        others: Option<(u64, String)>,
    },
    /// The actor has made no undo that is still in force.
    NothingToRedo {
        /// The latest undo by someone else that is still in force, and its author.
        others: Option<(u64, String)>,
    },
    /// A word cannot be a label.
    InvalidLabel {
        /// The word.
        label: String,
    },
    /// A todo would have more labels than it may.
    TooManyLabels {
        /// The todo.
        id: String,
        /// How many it would have.
        count: usize,
    },
    /// The caller expected another revision.
    Conflict {
        /// The revision that the caller expected.
        expected: u64,
        /// The current revision.
        current: u64,
    },
    /// A refusal about one line of a text that the user edited.
    AtLine {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        refusal: Box<Refusal>,
    },
}

impl Refusal {
    /// The todo that the refusal is about, by its id; of a cycle, every todo on it. Empty for refusals about anything else.
    pub fn about(&self) -> &[String] {
        match self {
            Self::Cycle { path } => path,
            Self::UnknownTodo { id, .. }
            | Self::UnknownDependency { id, .. }
            | Self::NotReady { id, .. }
            | Self::InProgressLimit { id, .. }
            | Self::Transition { id, .. }
            | Self::Leased { id, .. }
            | Self::StaleFence { id, .. }
            | Self::NeedsVerification { id }
            | Self::NeedsEvidence { id }
            | Self::FailingCheck { id, .. }
            | Self::NeedsCheck { id, .. }
            | Self::RemovedInBatch { id }
            | Self::TooManyLabels { id, .. } => std::slice::from_ref(id),
            _ => &[],
        }
    }

    /// The moments that the message names, in UTC.
    pub fn moments(&self) -> Vec<i64> {
        match self {
            Self::AtLine { refusal, .. } => refusal.moments(),
            Self::Leased { until, .. } => until.iter().copied().collect(),
            Self::NotReady { reasons, .. } => reasons.iter().filter_map(|reason| reason.until).collect(),
            _ => Vec::new(),
        }
    }

    /// The refusal with the line that it is about, if there is one.
    #[must_use]
    pub fn at_line(self, line: Option<usize>) -> Self {
        match line {
            Some(line) => Self::AtLine { line, refusal: Box::new(self) },
            None => self,
        }
    }

    /// The stable code that programs match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::AtLine { refusal, .. } => refusal.code(),
            Self::Invalid { .. } => "invalid",
            Self::DuplicateId { .. } => "duplicate_id",
            Self::UnknownTodo { .. } => "unknown_todo",
            Self::UnknownDependency { .. } => "unknown_dependency",
            Self::Cycle { .. } => "cycle",
            Self::NotReady { .. } => "not_ready",
            Self::InProgressLimit { .. } => "in_progress_limit",
            Self::Transition { .. } => "transition",
            Self::Leased { .. } => "leased",
            Self::StaleFence { .. } => "stale_fence",
            Self::NeedsVerification { .. } => "needs_verification",
            Self::NeedsEvidence { .. } => "needs_evidence",
            Self::FailingCheck { .. } => "failing_check",
            Self::NeedsCheck { .. } => "needs_check",
            Self::RemovedInBatch { .. } => "removed_in_batch",
            Self::TooLong { .. } => "too_long",
            Self::UnknownPhase { .. } => "unknown_phase",
            Self::RevertConflict { .. } => "revert_conflict",
            Self::UnknownRevision { .. } => "unknown_revision",
            Self::AlreadyUndone { .. } => "already_undone",
            Self::NothingUndoable { .. } => "nothing_undoable",
            Self::NothingToUndo { .. } => "nothing_to_undo",
            Self::NothingToRedo { .. } => "nothing_to_redo",
            Self::InvalidLabel { .. } => "invalid_label",
            Self::TooManyLabels { .. } => "too_many_labels",
            Self::Conflict { .. } => "conflict",
        }
    }

    /// Replaces the ids of todos that the plan has, for a reader who calls them otherwise. What the caller itself gave stays.
    pub fn rename(&mut self, name: &dyn Fn(&str) -> String) {
        let one = |id: &mut String| *id = name(id);
        match self {
            Self::NotReady { id, reasons } => {
                one(id);
                for reason in reasons {
                    one(&mut reason.id);
                    one(&mut reason.needed_by);
                }
            }
            Self::InProgressLimit { id, running, .. } => {
                one(id);
                one(running);
            }
            Self::Leased { id, free, .. } => {
                one(id);
                free.iter_mut().for_each(one);
            }
            Self::Transition { id, .. }
            | Self::StaleFence { id, .. }
            | Self::NeedsVerification { id }
            | Self::NeedsEvidence { id }
            | Self::FailingCheck { id, .. }
            | Self::NeedsCheck { id, .. }
            | Self::RemovedInBatch { id }
            | Self::TooManyLabels { id, .. } => one(id),
            Self::Cycle { path } => path.iter_mut().for_each(one),
            Self::AtLine { refusal, .. } => refusal.rename(name),
            Self::RevertConflict { fields, .. } => fields.iter_mut().for_each(|(id, _)| one(id)),
            Self::Invalid { .. }
            | Self::DuplicateId { .. }
            | Self::UnknownTodo { .. }
            | Self::UnknownDependency { .. }
            | Self::TooLong { .. }
            | Self::UnknownPhase { .. }
            | Self::UnknownRevision { .. }
            | Self::AlreadyUndone { .. }
            | Self::NothingUndoable { .. }
            | Self::NothingToUndo { .. }
            | Self::NothingToRedo { .. }
            | Self::InvalidLabel { .. }
            | Self::Conflict { .. } => {}
        }
    }

    /// What is wrong, with which value. Lower case, names in backticks, capped.
    pub fn message(&self) -> String {
        let name = |id: &str| format!("`{}`", text::clip(id, 80));
        match self {
            Self::AtLine { line, refusal } => format!("line {line}: {}", refusal.message()),
            Self::Invalid { at, what } if at.is_empty() => clip_lines(what),
            Self::Invalid { at, what } => format!("{}: {}", text::clip(at, 160), clip_lines(what)),
            Self::DuplicateId { id } => format!("id {} is already in use", name(id)),
            Self::UnknownTodo { id, near } => format!("no todo {}{}", name(id), did_you_mean(near)),
            Self::UnknownDependency { id, missing, near } => {
                format!("{} depends on {}, which does not exist{}", name(id), name(missing), did_you_mean(near))
            }
            Self::Cycle { path } if path.iter().all(|id| Some(id) == path.first()) => {
                format!("{} cannot depend on itself", name(path.first().map_or("", String::as_str)))
            }
            Self::Cycle { path } => format!("dependencies form a cycle: {}", path_text(path)),
            Self::NotReady { id, reasons } => not_ready(id, reasons),
            Self::InProgressLimit { id, running, together: false } => {
                format!(
                    "cannot start {}: only one todo may be in progress (`policy.in_progress`), and {} is",
                    name(id),
                    name(running)
                )
            }
            Self::InProgressLimit { id, running, together: true } => {
                format!(
                    "cannot start both {} and {}: only one todo may be in progress (`policy.in_progress`)",
                    name(running),
                    name(id)
                )
            }
            Self::Transition { id, op: op @ ("unclaim" | "renew"), status: Status::Pending } => {
                format!("cannot {op} {}: it is not claimed", name(id))
            }
            Self::Transition { id, op, status } => format!("cannot {op} {}: it is {}", name(id), status.name()),
            Self::Leased { id, owner, until, .. } => {
                let owner = owner.as_deref().map_or_else(|| "the user".to_owned(), name);
                let until = until.map(|until| format!(" until {}", time::utc(until))).unwrap_or_default();
                format!("{} is claimed by {owner}{until}", name(id))
            }
            Self::StaleFence { id, given, current } => {
                format!(
                    "the claim on {} has ended: someone else claimed it since (claim {given}, now {current})",
                    name(id)
                )
            }
            Self::NeedsVerification { id } => format!("{} needs a passing check first", name(id)),
            Self::NeedsEvidence { id } => {
                format!("{} has no check command, so completing it requires evidence (`policy.verify`)", name(id))
            }
            Self::FailingCheck { id, command, outcome } => {
                format!("{} is not done: `{}` {outcome}", name(id), text::clip(command, 120))
            }
            Self::NeedsCheck { id, outdated: false } => format!("no passing check was seen for {}", name(id)),
            Self::NeedsCheck { id, outdated: true } => {
                format!("files were changed after the last passing check of {}", name(id))
            }
            Self::RemovedInBatch { id } => format!("{} is removed in the same batch", name(id)),
            Self::TooLong { field, length, limit } => {
                format!("{} too long: {length} characters (limit {limit})", in_words(field))
            }
            Self::UnknownPhase { name: phase, near } => format!("no phase {}{}", name(phase), did_you_mean(near)),
            Self::RevertConflict { revision, redo, fields } => {
                let mut parts: Vec<String> = fields
                    .iter()
                    .take(8)
                    .map(|(id, field)| format!("{} of `{}`", in_words(field), text::clip(id, 40)))
                    .collect();
                if fields.len() > 8 {
                    parts.push(format!("{} more", fields.len() - 8));
                }
                let done = if *redo { "redone" } else { "undone" };
                format!("revision {revision} cannot be {done} because these changed since: {}", parts.join(", "))
            }
            Self::UnknownRevision { revision } => format!("no revision {revision} in this plan"),
            Self::AlreadyUndone { revision, by } => format!("revision {revision} was already undone by revision {by}"),
            Self::NothingUndoable { revision, stays } if stays.is_empty() => {
                format!("undoing revision {revision} would change nothing")
            }
            Self::NothingUndoable { revision, stays } => {
                format!("nothing in revision {revision} can be undone: {}", stays.join("; "))
            }
            Self::NothingToUndo { others: None } => "nothing to undo".to_owned(),
            Self::NothingToUndo { others: Some((revision, by)) } => {
                format!("you have nothing to undo; the latest change is revision {revision} by {}", name(by))
            }
            Self::NothingToRedo { others: None } => "nothing to redo".to_owned(),
            Self::NothingToRedo { others: Some((revision, by)) } => {
                format!("you have nothing to redo; the latest undo is revision {revision} by {}", name(by))
            }
            Self::InvalidLabel { label } => format!("invalid label {}", name(label)),
            Self::TooManyLabels { id, count } => {
                format!("{} would have {count} labels (limit {})", name(id), Label::MOST)
            }
            Self::Conflict { expected, current } => {
                format!("the plan has changed: expected revision {expected}, found {current}")
            }
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::AtLine { refusal, .. } => refusal.hint(),
            Self::Invalid { .. } => "fix that value and try again; nothing was changed".into(),
            Self::DuplicateId { .. } => "choose another id, or leave it out to get the next free one".into(),
            Self::UnknownTodo { .. } => "`punch list` shows the ids".into(),
            Self::UnknownDependency { .. } => {
                "`punch list` shows the ids; add the missing todo first, or leave the dependency out".into()
            }
            Self::Cycle { .. } => "remove one of these dependencies".into(),
            Self::NotReady { id, reasons } => not_ready_hint(id, reasons),
            Self::InProgressLimit { running, together: true, .. } => {
                format!("start one of them, for example `punch start {}`; nothing was changed", word(running))
            }
            Self::InProgressLimit { running, .. } => {
                let running = word(running);
                format!("finish it with `punch done {running}`, or put it back with `punch reopen {running}`")
            }
            Self::Transition { status: Status::Completed | Status::Cancelled | Status::Failed, id, .. } => {
                format!("run `punch reopen {}` first", word(id))
            }
            Self::Transition { id, .. } => format!("`punch show {}` shows its state", word(id)),
            Self::Leased { free: Some(free), .. } => {
                format!("start another todo with `punch start {}`, or wait until the claim ends", word(free))
            }
            Self::Leased { .. } => "no other todo is ready; wait until the claim ends".into(),
            Self::StaleFence { .. } => "claim it again, then report the result".into(),
            Self::NeedsVerification { id } => format!("run `punch verify {}`", word(id)),
            Self::NeedsEvidence { id } => {
                format!("say what you checked, for example `punch done {} --evidence 'all tests pass'`", word(id))
            }
            Self::FailingCheck { id, .. } => format!(
                "fix it and run it again, or say why it does not matter: `punch done {} --evidence 'fails on main too'`",
                word(id)
            ),
            Self::NeedsCheck { id, .. } => format!(
                "run the tests, or say what you checked: `punch done {} --evidence 'only a comment changed'`",
                word(id)
            ),
            Self::RemovedInBatch { .. } => "remove it in a separate call".into(),
            Self::TooLong { field: "content", .. } => {
                "shorten it and move the rest to the description or a note".into()
            }
            Self::TooLong { .. } => "shorten it, or split it into several notes".into(),
            Self::UnknownPhase { .. } => "`punch list --tree` shows the phases".into(),
            Self::RevertConflict { .. } => "undo the later revisions first; `punch log` lists them".into(),
            Self::UnknownRevision { .. } | Self::NothingUndoable { .. } => "`punch log` lists the revisions".into(),
            Self::AlreadyUndone { by, .. } => format!("`punch undo {by}` redoes it"),
            Self::NothingToUndo { others: None } | Self::NothingToRedo { others: None } => {
                "`punch log` lists the revisions".into()
            }
            Self::NothingToUndo { .. } => "run `punch undo --any` to undo other people's changes too".into(),
            Self::NothingToRedo { others: Some((revision, _)) } => format!("run `punch undo {revision}` to undo it"),
            Self::InvalidLabel { label } => {
                let rule = format!("use lower case letters, digits and - _ . / :, at most {} of them", Label::LONGEST);
                match Label::nearest(label) {
                    Some(near) => format!("{rule}; for example `{near}`"),
                    None => rule,
                }
            }
            Self::TooManyLabels { .. } => "remove some labels first".into(),
            Self::Conflict { .. } => "read the plan again, then repeat the change".into(),
        }
    }
}

/// Quotes an id for a command that users copy into a shell.
fn word(id: &str) -> String {
    text::shell(&text::clip(id, 80)).into_owned()
}

/// One short line, or a list of places in a document, each on a short line.
fn clip_lines(what: &str) -> String {
    if !what.contains('\n') {
        return text::clip(what, 400).into_owned();
    }
    what.lines().take(25).map(|line| text::clip(line, 200)).collect::<Vec<_>>().join("\n")
}

fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let ids: Vec<String> = near.iter().map(|id| format!("`{}`", text::clip(id, 80))).collect();
    format!(" (did you mean {}?)", ids.join(" or "))
}

/// Says in one sentence what keeps a todo from starting.
fn not_ready(id: &str, reasons: &[WaitReason]) -> String {
    let name = |id: &str| format!("`{}`", text::clip(id, 80));
    let (own, others): (Vec<&WaitReason>, Vec<&WaitReason>) = reasons.iter().partition(|reason| reason.is_own());
    let mut blocked: Vec<String> =
        others.iter().take(5).map(|reason| format!("`{}` ({})", text::clip(&reason.id, 40), reason.words())).collect();
    if others.len() > 5 {
        blocked.push(format!("{} more", others.len() - 5));
    }
    let blocked = (!blocked.is_empty()).then(|| format!("blocked by {}", blocked.join(", ")));
    let own = own.iter().map(|reason| match (reason.cause, &reason.about) {
        (Cause::Blank, _) => "empty".to_owned(),
        (cause, Some(about)) if cause.is_hold() => format!("on hold: {}", text::clip(about, 120)),
        _ => reason.words(),
    });
    let parts: Vec<String> = blocked.into_iter().chain(own).collect();
    format!("{} is {}", name(id), if parts.is_empty() { "not ready".to_owned() } else { parts.join(", and ") })
}

/// Names the command that gets the todo going again.
fn not_ready_hint(id: &str, reasons: &[WaitReason]) -> String {
    let id = text::shell(id);
    let Some(first) = reasons.first() else { return format!("`punch why {id}` explains what it is waiting for") };
    let other = text::shell(&first.id);
    match first.cause {
        Cause::Dropped => {
            format!(
                "run `punch reopen {other}` to work on it again, or `punch edit {id} --drop-needs {other}` to remove the dependency"
            )
        }
        Cause::Missing => format!("add a todo with that id, or run `punch edit {id} --drop-needs {other}`"),
        Cause::Files => format!("wait until `{}` is done, or start another todo", text::clip(&first.id, 80)),
        Cause::Blank => format!("describe it with `punch edit {id} --text '…'`"),
        cause if cause.is_hold() && first.is_own() => format!("`punch unhold {id}` takes it off hold"),
        _ => format!("finish `{}` first; `punch why {id}` shows the whole chain", text::clip(&first.id, 80)),
    }
}

/// A long cycle is named by its ends, and long ids by their beginnings.
fn path_text(path: &[String]) -> String {
    let limit = 400 / path.len().clamp(5, 12);
    let short =
        |ids: &[String]| ids.iter().map(|id| text::clip(id, limit).into_owned()).collect::<Vec<_>>().join(" -> ");
    if path.len() <= 12 {
        return short(path);
    }
    format!("{} -> … {} more … -> {}", short(&path[..6]), path.len() - 10, short(&path[path.len() - 4..]))
}
