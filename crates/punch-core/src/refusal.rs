//! Why a rule said no. Closed, with a stable code, the values that matter, and a hint that works.

use crate::{Status, Uid, text, time};

/// A rule said no; nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The call has the wrong shape.
    Invalid {
        /// Where in the call, for example `todos[2].status`.
        at: String,
        /// What is wrong there.
        what: String,
    },
    /// Two items of one payload, or a payload and the plan, have the same id.
    DuplicateId {
        /// The id.
        id: String,
    },
    /// No live todo has that id.
    UnknownTodo {
        /// What was given.
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
    /// It waits for others.
    NotReady {
        /// The todo.
        id: String,
        /// What it waits for: ids with their status.
        waits_for: Vec<(String, &'static str)>,
        /// The hold, if that is the reason.
        hold: Option<String>,
    },
    /// The owner has something else in progress.
    InProgressLimit {
        /// The todo that was to start.
        id: String,
        /// What is in progress.
        running: String,
    },
    /// The status does not allow it.
    Transition {
        /// The todo.
        id: String,
        /// The op.
        op: &'static str,
        /// Its status.
        status: Status,
    },
    /// Someone else has claimed it.
    Leased {
        /// The todo.
        id: String,
        /// Who; `None` is the user.
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
    /// The plan wants a passed check first.
    NeedsVerification {
        /// The todo.
        id: String,
    },
    /// The plan wants evidence in words for a todo that has no verify command.
    NeedsEvidence {
        /// The todo.
        id: String,
    },
    /// A batch removes a todo and uses it.
    RemovedInBatch {
        /// The todo.
        id: String,
    },
    /// A text is too long.
    TooLong {
        /// Which field.
        field: &'static str,
        /// How long it is.
        length: usize,
        /// How long it may be.
        limit: usize,
    },
    /// The phase does not exist.
    UnknownPhase {
        /// What was given.
        name: String,
    },
    /// The revision cannot be taken back because later ones changed the same fields.
    RevertConflict {
        /// The revision; of a redo, the change that was to be in force again.
        revision: u64,
        /// It was a redo.
        redo: bool,
        /// Todo id and field, each once.
        fields: Vec<(String, &'static str)>,
    },
    /// There is no such revision.
    UnknownRevision {
        /// What was given.
        revision: u64,
    },
    /// The revision is already undone.
    AlreadyUndone {
        /// The revision.
        revision: u64,
        /// The undo that still stands.
        by: u64,
    },
    /// Undo takes back no part of the revision, or everything already is as it was before it.
    NothingUndoable {
        /// The revision.
        revision: u64,
        /// What it has that is never undone, in words.
        stays: Vec<String>,
    },
    /// The actor has no change that still stands.
    NothingToUndo {
        /// The latest change of someone else that still stands, and its author.
        others: Option<(u64, String)>,
    },
    /// The actor has no undo that still stands.
    NothingToRedo {
        /// The latest undo of someone else that still stands, and its author.
        others: Option<(u64, String)>,
    },
    /// The caller expected another revision.
    Conflict {
        /// What the caller expected.
        expected: u64,
        /// What it is.
        current: u64,
    },
}

impl Refusal {
    /// The stable code that programs match on.
    pub const fn code(&self) -> &'static str {
        match self {
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
            Self::RemovedInBatch { .. } => "removed_in_batch",
            Self::TooLong { .. } => "too_long",
            Self::UnknownPhase { .. } => "unknown_phase",
            Self::RevertConflict { .. } => "revert_conflict",
            Self::UnknownRevision { .. } => "unknown_revision",
            Self::AlreadyUndone { .. } => "already_undone",
            Self::NothingUndoable { .. } => "nothing_undoable",
            Self::NothingToUndo { .. } => "nothing_to_undo",
            Self::NothingToRedo { .. } => "nothing_to_redo",
            Self::Conflict { .. } => "conflict",
        }
    }

    /// What is wrong, with which value. Lower case, names in backticks, capped.
    pub fn message(&self) -> String {
        let name = |id: &str| format!("`{}`", text::clip(id, 80));
        match self {
            Self::Invalid { at, what } if at.is_empty() => clip_lines(what),
            Self::Invalid { at, what } => format!("{}: {}", text::clip(at, 160), clip_lines(what)),
            Self::DuplicateId { id } => format!("id {} is used more than once", name(id)),
            Self::UnknownTodo { id, near } => format!("no todo {}{}", name(id), did_you_mean(near)),
            Self::UnknownDependency { id, missing, near } => {
                format!("{} depends on {}, which does not exist{}", name(id), name(missing), did_you_mean(near))
            }
            Self::Cycle { path } => format!("dependencies form a cycle: {}", path_text(path)),
            Self::NotReady { id, waits_for, hold } => {
                let mut parts: Vec<String> =
                    waits_for.iter().take(5).map(|(w, status)| format!("`{}` ({status})", text::clip(w, 40))).collect();
                if waits_for.len() > 5 {
                    parts.push(format!("{} more", waits_for.len() - 5));
                }
                if let Some(reason) = hold {
                    parts.push(format!("its hold ({})", text::clip(reason, 120)));
                }
                format!("{} waits for {}", name(id), parts.join(", "))
            }
            Self::InProgressLimit { id, running } => {
                format!("cannot start {} while {} is in progress", name(id), name(running))
            }
            Self::Transition { id, op, status } => format!("cannot {op} {}: it is {}", name(id), status.name()),
            Self::Leased { id, owner, until, .. } => {
                let owner = owner.as_deref().map_or_else(|| "the user".to_owned(), name);
                let until = until.map(|until| format!(" until {}", time::utc(until))).unwrap_or_default();
                format!("{} is claimed by {owner}{until}", name(id))
            }
            Self::StaleFence { id, given, current } => {
                format!("the claim on {} with fence {given} is over (now {current})", name(id))
            }
            Self::NeedsVerification { id } => format!("{} needs its verify command to pass first", name(id)),
            Self::NeedsEvidence { id } => {
                format!("{} has no verify command, so it is not done without evidence (policy.verify)", name(id))
            }
            Self::RemovedInBatch { id } => format!("{} is removed by the same batch", name(id)),
            Self::TooLong { field, length, limit } => format!("{field} has {length} characters, the limit is {limit}"),
            Self::UnknownPhase { name: phase } => format!("no phase {}", name(phase)),
            Self::RevertConflict { revision, redo, fields } => {
                let mut parts: Vec<String> =
                    fields.iter().take(8).map(|(id, field)| format!("{field} of `{}`", text::clip(id, 40))).collect();
                if fields.len() > 8 {
                    parts.push(format!("{} more", fields.len() - 8));
                }
                let done = if *redo { "redone" } else { "undone" };
                format!("revision {revision} cannot be {done}: changed since: {}", parts.join(", "))
            }
            Self::UnknownRevision { revision } => format!("no revision {revision} in this plan"),
            Self::AlreadyUndone { revision, by } => format!("revision {revision} is already undone by revision {by}"),
            Self::NothingUndoable { revision, stays } if stays.is_empty() => {
                format!("undoing revision {revision} would change nothing")
            }
            Self::NothingUndoable { revision, stays } => {
                format!("revision {revision} has nothing that can be undone: {}", stays.join("; "))
            }
            Self::NothingToUndo { others: None } => "there is nothing to undo".to_owned(),
            Self::NothingToUndo { others: Some((revision, by)) } => {
                format!("you have nothing to undo; the latest change is revision {revision} by {}", name(by))
            }
            Self::NothingToRedo { others: None } => "there is nothing to redo".to_owned(),
            Self::NothingToRedo { others: Some((revision, by)) } => {
                format!("you have nothing to redo; the latest undo is revision {revision} by {}", name(by))
            }
            Self::Conflict { expected, current } => format!("expected revision {expected}, the plan is at {current}"),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Invalid { .. } => "correct the named place and send the whole call again; nothing was changed".into(),
            Self::DuplicateId { .. } => "give every todo its own id".into(),
            Self::UnknownTodo { .. } => "use an id from the list, for example from `punch list`".into(),
            Self::UnknownDependency { .. } => {
                "add the missing todo in the same batch, or leave the dependency out".into()
            }
            Self::Cycle { .. } => "drop one dependency on this path".into(),
            Self::NotReady { waits_for, hold, id } => match (waits_for.first(), hold) {
                (Some((first, _)), _) => {
                    format!("finish `{}` first; `punch why {}` tells more", text::clip(first, 80), word(id))
                }
                (None, _) => format!("`punch release {}` ends the hold", word(id)),
            },
            Self::InProgressLimit { running, .. } => {
                let running = word(running);
                format!("finish it (`punch done {running}`) or put it back (`punch reopen {running}`)")
            }
            Self::Transition { status: Status::Completed | Status::Cancelled | Status::Failed, id, .. } => {
                format!("`punch reopen {}` first", word(id))
            }
            Self::Transition { .. } => "look at it with `punch show` first".into(),
            Self::Leased { free: Some(free), .. } => {
                format!("take another todo (`punch start {}`), or wait until the claim ends", word(free))
            }
            Self::Leased { .. } => "nothing else is free: wait until the claim ends".into(),
            Self::StaleFence { .. } => "claim it again before reporting".into(),
            Self::NeedsVerification { id } => format!("run `punch verify {}`", word(id)),
            Self::NeedsEvidence { id } => {
                format!("say what you checked: `punch done {} --evidence 'all tests pass'`", word(id))
            }
            Self::RemovedInBatch { .. } => "remove it in a batch of its own".into(),
            Self::TooLong { field: "content", .. } => "shorten it and put the rest into description or a note".into(),
            Self::TooLong { .. } => "shorten it, or split it over several notes".into(),
            Self::UnknownPhase { .. } => "use a phase from `punch tree`".into(),
            Self::RevertConflict { .. } => "undo the later revisions first, see `punch log`".into(),
            Self::UnknownRevision { .. } | Self::NothingUndoable { .. } => "`punch log` lists the revisions".into(),
            Self::AlreadyUndone { by, .. } => format!("`punch undo {by}` brings it back"),
            Self::NothingToUndo { others: None } | Self::NothingToRedo { others: None } => {
                "`punch log` lists the revisions".into()
            }
            Self::NothingToUndo { .. } => "`punch undo --any` undoes changes of others too".into(),
            Self::NothingToRedo { others: Some((revision, _)) } => format!("`punch undo {revision}` undoes it"),
            Self::Conflict { .. } => "read the plan again and repeat the change on what it says now".into(),
        }
    }
}

/// An id in a command to copy: as the shell wants it.
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
    format!(" (nearest: {})", ids.join(", "))
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

/// Something worth telling that did not stop the write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Started or finished although it waits for others.
    StartedEarly {
        /// The todo.
        id: String,
        /// Unmet dependencies.
        unmet: u32,
    },
    /// An open todo was removed and these no longer wait for it.
    Detached {
        /// The removed todo.
        id: String,
        /// Who depended on it.
        dependents: Vec<String>,
    },
    /// An edge would close a cycle and was suspended.
    Suspended {
        /// The dependent.
        id: String,
        /// The dependency.
        dep: String,
    },
    /// The dependency is not known yet.
    Dangling {
        /// The dependent.
        id: String,
        /// The missing id.
        missing: String,
    },
    /// A group number in the input differs from the derived one (rule 22).
    Group {
        /// The todo.
        id: String,
        /// Given.
        given: u64,
        /// Derived.
        derived: u32,
    },
    /// Two open todos look like the same work (rule 48).
    SameContent {
        /// One.
        id: String,
        /// The other.
        other: String,
    },
    /// Two items of one payload had the same id; the last one counts (rule 10).
    FoldedId {
        /// The id.
        id: String,
    },
    /// It is not completed yet: a runner verifies what its workers report.
    Reported {
        /// The todo.
        id: String,
    },
    /// A user changed the work on a todo that someone else had claimed.
    ClaimEnded {
        /// The todo.
        id: String,
        /// Whose claim it was.
        owner: String,
    },
    /// A list said something about the work on a todo that someone else has claimed; that part was left out.
    LeftOut {
        /// The todo.
        id: String,
        /// Who has claimed it; `None` is the user.
        owner: Option<String>,
    },
    /// It was completed although the last run of its verify command failed.
    FailedCheck {
        /// The todo.
        id: String,
        /// The command.
        command: String,
        /// How it ended, as the end of a sentence.
        outcome: String,
        /// Milliseconds since then.
        age: i64,
    },
    /// It was completed without a check and without evidence, and is marked so.
    Unchecked {
        /// The todo.
        id: String,
    },
    /// The todo uid was touched by a consequence the caller may not expect.
    Cascaded {
        /// Which was cancelled along.
        uid: Uid,
        /// Its id.
        id: String,
    },
    /// Notes of someone else that stay although their revision is undone.
    NotesStay {
        /// How many.
        count: usize,
        /// Who wrote them.
        by: String,
    },
    /// A part of an undone revision that undo never takes back.
    Stays {
        /// What it is.
        what: &'static str,
        /// Of which todos.
        ids: Vec<String>,
    },
}

impl Warning {
    /// One short line.
    pub fn message(&self) -> String {
        let name = |id: &str| format!("`{}`", text::clip(id, 80));
        match self {
            Self::StartedEarly { id, unmet } => format!("{} still waits for {unmet} todo(s)", name(id)),
            Self::Detached { id, dependents } => {
                let shown: Vec<String> = dependents.iter().take(5).map(|d| name(d)).collect();
                let more =
                    if dependents.len() > 5 { format!(" and {} more", dependents.len() - 5) } else { String::new() };
                format!("{} was open; {}{more} no longer wait for it", name(id), shown.join(", "))
            }
            Self::Suspended { id, dep } => {
                format!("{} depends on {} in a circle; it will not become ready", name(id), name(dep))
            }
            Self::Reported { id } => {
                format!("{} is reported as done; the runner verifies it and completes it", name(id))
            }
            Self::ClaimEnded { id, owner } => format!("this ends the claim of {} on {}", name(owner), name(id)),
            Self::LeftOut { id, owner } => {
                let owner = owner.as_deref().map_or_else(|| "the user".to_owned(), name);
                format!("{} is claimed by {owner} and stays as it is", name(id))
            }
            Self::Dangling { id, missing } => format!("{} waits for {}, which does not exist", name(id), name(missing)),
            Self::Group { id, given, derived } => {
                format!("{} was given group {given}, its dependencies make it {derived}", name(id))
            }
            Self::SameContent { id, other } => format!("{} and {} say the same", name(id), name(other)),
            Self::FoldedId { id } => format!("{} was given more than once; the last one counts", name(id)),
            Self::FailedCheck { id, command, outcome, age } => format!(
                "{} is done, but its check `{}` {outcome} {}",
                name(id),
                text::clip(command, 120),
                crate::time::ago(*age)
            ),
            Self::Unchecked { id } => format!("{} is completed without evidence and marked as unchecked", name(id)),
            Self::Cascaded { id, .. } => format!("{} was cancelled with what it depends on", name(id)),
            Self::NotesStay { count: 1, by } => format!("1 note by {} stays", name(by)),
            Self::NotesStay { count, by } => format!("{count} notes by {} stay", name(by)),
            Self::Stays { what, ids } => {
                let mut shown: Vec<String> = ids.iter().take(5).map(|id| name(id)).collect();
                if ids.len() > 5 {
                    shown.push(format!("{} more", ids.len() - 5));
                }
                format!("the {what} of {} stays", shown.join(", "))
            }
        }
    }
}
