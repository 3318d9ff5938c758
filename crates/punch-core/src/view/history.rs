//! What happened in revisions, in words.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::{Layout, Plain, SpanRole, ViewLine};
use crate::text::clip;
use crate::{
    Event, EventKind, Evidence, FieldChange, Flags, Footprint, ListSplice, Patch, Plan, Status, Swap, Uid, UndoState,
};

/// Todos named for each thing that happened.
const NAMED: usize = 4;
/// Different things that are named of one revision.
const THINGS: usize = 6;

/// Characters of the reason of a failure.
const ERROR: usize = 120;

/// What happened to which todos in one revision; what happened to several todos is said once.
pub struct RevisionStory {
    parts: Vec<(String, Vec<Uid>)>,
    /// The content of a todo that came alone.
    came: Option<String>,
    /// Events of the revision that were not looked at.
    more: u64,
}

impl RevisionStory {
    /// Gathers the events of one revision.
    pub fn of(events: &[Event]) -> Self {
        let mut parts: Vec<(String, Vec<Uid>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut came = Vec::new();
        let failures = FailedAttempt::all_in(events);
        let failing = failing_checks(events);
        for event in events {
            let phrase = match failures.of(event) {
                // The edit before a failure only counts the attempt: the failure says so.
                Some(_) if event.kind == EventKind::Edited => continue,
                Some(failure) => failure.phrase(),
                None if uid(event).is_some_and(|uid| failing.contains(&uid)) && becomes_stale(event) => {
                    "outdated: its check now fails".to_owned()
                }
                None => phrase(event),
            };
            let at = *places.entry(phrase.clone()).or_insert_with(|| {
                parts.push((phrase, Vec::new()));
                parts.len() - 1
            });
            let Patch::Todo(uid, changes) = &event.patch else { continue };
            if parts[at].1.last() != Some(uid) {
                parts[at].1.push(*uid);
            }
            if event.kind == EventKind::Added && came.len() < 2 {
                came.push(changes.iter().find_map(|c| match c {
                    FieldChange::Content(swap) => Some(swap.after.clone()),
                    _ => None,
                }));
            }
        }
        let came = if let [Some(content)] = came.as_slice() { Some(content.clone()) } else { None };
        Self { parts, came, more: 0 }
    }

    /// Says that the revision has more events than were looked at.
    pub fn and_more(mut self, events: u64) -> Self {
        self.more += events;
        if events > 0 {
            self.came = None;
        }
        self
    }

    /// The todos that will be named.
    pub fn names(&self) -> impl Iterator<Item = Uid> {
        self.parts.iter().take(THINGS).flat_map(|(_, uids)| uids.iter().take(NAMED)).copied()
    }

    /// The todo that everything happened to, unless its text is already in the words.
    fn only_todo(&self) -> Option<Uid> {
        let mut uids = self.parts.iter().flat_map(|(_, uids)| uids).copied();
        let first = uids.next().filter(|_| self.came.is_none() && self.more == 0)?;
        uids.all(|uid| uid == first).then_some(first)
    }

    /// What happened, on one line.
    pub fn words(&self, plan: &Plan) -> Plain {
        let mut out: Vec<String> = self.parts.iter().take(THINGS).map(|part| self.part(part, plan)).collect();
        if self.parts.len() > THINGS {
            out.push(format!("{} more", self.parts.len() - THINGS));
        }
        if self.more > 0 {
            out.push(format!("{} more {}", self.more, if self.more == 1 { "change" } else { "changes" }));
        }
        Plain::clipped(&out.join("; "), 4_000)
    }

    fn part(&self, (phrase, uids): &(String, Vec<Uid>), plan: &Plan) -> String {
        if uids.is_empty() {
            return phrase.clone();
        }
        let mut names: Vec<String> = uids.iter().take(NAMED).map(|uid| name(plan, *uid)).collect();
        if uids.len() > NAMED {
            names.push(format!("{} more", uids.len() - NAMED));
        }
        let came = self.came.as_deref().filter(|_| phrase == "added");
        let content = came.map(|c| format!(": {}", Plain::clipped(c, 120)));
        format!("{} {phrase}{}", names.join(", "), content.unwrap_or_default())
    }
}

/// A failed attempt at a todo in one revision.
#[derive(Default)]
struct FailedAttempt {
    attempt: Option<u32>,
    is_final: bool,
    error: Option<String>,
}

/// The failed attempts of one revision.
struct Failures(HashMap<Uid, FailedAttempt>);

impl FailedAttempt {
    /// Gathers each failure from its own event and from the edits that count the attempt and record the reason.
    fn all_in(events: &[Event]) -> Failures {
        let failed = events.iter().filter(|event| event.kind == EventKind::Failed);
        let mut out: HashMap<Uid, Self> = failed.filter_map(uid).map(|uid| (uid, Self::default())).collect();
        for event in events {
            let Patch::Todo(uid, changes) = &event.patch else { continue };
            let Some(failure) = out.get_mut(uid).filter(|_| is_about_failure(event)) else { continue };
            for change in changes {
                match change {
                    FieldChange::Attempts(swap) => failure.attempt = Some(swap.after),
                    FieldChange::LastError(swap) => failure.error.clone_from(&swap.after),
                    FieldChange::Status(swap) => failure.is_final = swap.after == Status::Failed,
                    _ => {}
                }
            }
        }
        Failures(out)
    }

    fn phrase(&self) -> String {
        let attempt = self.attempt.map(|attempt| format!("attempt {attempt}"));
        let retried = (!self.is_final).then(|| "to be retried".to_owned());
        let details: Vec<String> = attempt.into_iter().chain(retried).collect();
        let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
        let error = self.error.as_deref().map(str::trim).filter(|error| !error.is_empty());
        let error = error.map(|error| format!(": {}", clip(error, ERROR))).unwrap_or_default();
        format!("failed{details}{error}")
    }
}

impl Failures {
    /// The failure that an event is a part of.
    fn of(&self, event: &Event) -> Option<&FailedAttempt> {
        uid(event).filter(|_| is_about_failure(event)).and_then(|uid| self.0.get(&uid))
    }
}

/// Returns true for a failure, and for an edit that only counts an attempt or records its reason.
fn is_about_failure(event: &Event) -> bool {
    let Patch::Todo(_, changes) = &event.patch else { return false };
    let is_count = |change: &FieldChange| matches!(change, FieldChange::Attempts(_) | FieldChange::LastError(_));
    event.kind == EventKind::Failed || (event.kind == EventKind::Edited && changes.iter().all(is_count))
}

const fn uid(event: &Event) -> Option<Uid> {
    match &event.patch {
        Patch::Todo(uid, _) => Some(*uid),
        Patch::Phases(_) | Patch::Policy(_) => None,
    }
}

/// What the names of these todos need.
pub fn footprint(uids: impl IntoIterator<Item = Uid>) -> Footprint {
    Footprint { todos: uids.into_iter().collect(), ..Footprint::default() }
}

fn name(plan: &Plan, uid: Uid) -> String {
    plan.get(uid).map_or_else(|| format!("#{}", uid.0), |todo| Plain::id(&todo.id).to_string())
}

/// A revision as a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HistoryRow {
    /// The number of the revision.
    pub revision: u64,
    /// When the revision was written.
    pub at: i64,
    /// The author of the revision.
    pub by: Plain,
    /// The changes in words.
    pub changes: Plain,
    /// The revision that it undid.
    pub undoes: Option<u64>,
    /// The undo that undid it and still stands.
    pub undone_by: Option<u64>,
    /// The change that is in force again because of it, where it undid an undo.
    #[serde(skip)]
    redoes: Option<u64>,
    /// What the only todo of the revision is about, where the changes do not say it.
    #[serde(skip)]
    title: Option<Plain>,
}

impl HistoryRow {
    /// The row of a revision; `plan` has the todos that [`RevisionStory::names`] names.
    pub fn of(plan: &Plan, (revision, at, by): (u64, i64, &str), story: &RevisionStory, fate: UndoState) -> Self {
        let UndoState { undoes, undone_by, .. } = fate;
        let title = story.only_todo().and_then(|uid| plan.get(uid)).map(|todo| Plain::clipped(todo.content.trim(), 80));
        let (by, changes) = (Plain::clipped(by, 40), story.words(plan));
        Self { revision, at, by, changes, undoes, undone_by, redoes: None, title }
    }

    /// Says which change is in force again, for a row that undoes an undo.
    #[must_use]
    pub fn redoing(self, redoes: Option<u64>) -> Self {
        Self { redoes, ..self }
    }

    /// The row for users; `width` aligns the numbers.
    pub fn line(&self, width: usize, layout: Layout) -> ViewLine {
        let undoes = match (self.redoes, self.undoes) {
            (Some(of), _) => format!("redid {of}: "),
            (None, Some(of)) => format!("undid {of}: "),
            (None, None) => String::new(),
        };
        let undone = self.undone_by.map(|by| format!(" (undone by {by})")).unwrap_or_default();
        let when = layout.moment(self.at);
        // "59 minutes ago": times are aligned where they are relative.
        let when = if layout.width.is_some() { format!("{when:14}") } else { when };
        let line = ViewLine::default().with(SpanRole::Id, format!("{:>width$}", self.revision));
        // Most names are short: "user", "run 4".
        let by = if layout.width.is_some() { format!("{:5}", self.by.as_str()) } else { self.by.as_str().to_owned() };
        let line = line.with(SpanRole::Detail, format!("  {when}  ")).with(SpanRole::Owner, by);
        let line = line.with(SpanRole::Text, "  ").with(SpanRole::Detail, undoes);
        // A redo changes nothing back: what it redoes is named before.
        let changes = self.changes.as_str();
        let changes = self.redoes.and_then(|_| changes.strip_suffix(" changed back")).unwrap_or(changes);
        let line = line.with(SpanRole::Text, changes).with(SpanRole::Detail, undone);
        let title = self.title.as_ref().map(|title| format!("  {title}")).unwrap_or_default();
        match layout.width {
            Some(width) => line.with(SpanRole::Detail, title).fit(width, layout.glyphs),
            None => line,
        }
    }

    /// The row for a model.
    pub fn model_line(&self) -> String {
        let undoes = self.undoes.map(|of| format!(", undoes rev {of}")).unwrap_or_default();
        let undone = self.undone_by.map(|by| format!(", undone by rev {by}")).unwrap_or_default();
        format!("rev {}: {} (by {}{undoes}{undone})", self.revision, self.changes, self.by)
    }
}

fn phrase(event: &Event) -> String {
    let changes: &[FieldChange] = if let Patch::Todo(_, changes) = &event.patch { changes } else { &[] };
    let word = match event.kind {
        EventKind::Added => "added",
        EventKind::Moved => "moved",
        EventKind::Rewired => "dependencies changed",
        EventKind::Started => "started",
        EventKind::Claimed => "claimed",
        EventKind::Completed => "completed",
        EventKind::Cancelled => "cancelled",
        EventKind::Failed => "failed",
        EventKind::Reopened => "reopened",
        EventKind::Held => "put on hold",
        EventKind::Released => "taken off hold",
        EventKind::Demoted => "returned to pending",
        EventKind::LeaseExpired => "returned to the queue: its lease expired",
        EventKind::Flagged => return flagged(changes),
        EventKind::Noted => "note added",
        EventKind::Removed => "archived",
        EventKind::Phased => "the list of phases changed",
        EventKind::PolicySet => "the plan's policy changed",
        EventKind::Reverted => "changed back",
        EventKind::Edited => return edited(changes),
    };
    word.to_owned()
}

/// The todos whose check ran in these events and failed.
fn failing_checks(events: &[Event]) -> HashSet<Uid> {
    let fails = |change: &FieldChange| match change {
        FieldChange::Evidence(evidence) => {
            evidence.added.last().is_some_and(|one| one.command.is_some() && one.exit_code != Some(0))
        }
        _ => false,
    };
    let of = |event: &Event| match &event.patch {
        Patch::Todo(uid, changes) if changes.iter().any(fails) => Some(*uid),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

/// Returns true if the event marks the evidence of a todo as outdated.
fn becomes_stale(event: &Event) -> bool {
    let Patch::Todo(_, changes) = &event.patch else { return false };
    let stale =
        |change: &FieldChange| matches!(change, FieldChange::Flags(swap) if swap.after.stale && !swap.before.stale);
    event.kind == EventKind::Flagged && changes.iter().any(stale)
}

/// A flag, or what a check found.
fn flagged(changes: &[FieldChange]) -> String {
    let [FieldChange::Evidence(evidence)] = changes else {
        let flags = changes.iter().find_map(|c| if let FieldChange::Flags(swap) = c { Some(swap) } else { None });
        let set = |flag: fn(&Flags) -> bool| flags.is_some_and(|swap| flag(&swap.after) && !flag(&swap.before));
        let word = if set(|flags| flags.stale) {
            "outdated: its work is no longer in git"
        } else if set(|flags| flags.stale_dependency) {
            "may be outdated: something it needs was reopened"
        } else if set(|flags| flags.reported) {
            "reported as done"
        } else if set(|flags| flags.unchecked) {
            "not checked"
        } else if set(|flags| flags.resume) {
            "to be resumed"
        } else {
            "checked again"
        };
        return word.to_owned();
    };
    checked(evidence)
}

/// What a check found, or that there is other evidence.
fn checked(evidence: &ListSplice<Evidence>) -> String {
    match evidence.added.last().filter(|one| one.command.is_some()) {
        Some(check) => format!("checked: {}", check.outcome()),
        None => "evidence added".to_owned(),
    }
}

fn edited(changes: &[FieldChange]) -> String {
    // A todo that had failed already failed again with another text.
    if let [FieldChange::LastError(Swap { after: Some(error), .. })] = changes {
        return format!("failed: {}", clip(error, ERROR));
    }
    if let [FieldChange::Evidence(evidence)] = changes {
        return checked(evidence);
    }
    let mut fields: Vec<&str> = changes.iter().map(FieldChange::words).collect();
    fields.dedup();
    match fields.as_slice() {
        [] => "changed".to_owned(),
        [one] => format!("{one} changed"),
        [many @ .., last] => format!("{} and {last} changed", many.join(", ")),
    }
}
