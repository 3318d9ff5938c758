//! What happened in a revision, in words.

use std::collections::HashMap;

use punch_core::{Change, Event, Footprint, Kind, Patch, Plan, Status, Uid, text};

/// Todos named for each thing that happened.
const NAMED: usize = 4;
/// Things told of one revision.
const TOLD: usize = 6;

/// What happened to which todos; the same thing is told once.
pub struct Story {
    parts: Vec<(String, Vec<Uid>)>,
    /// The content of a todo that came alone.
    came: Option<String>,
}

impl Story {
    /// Gathers the events of one revision.
    pub fn of(events: &[Event]) -> Self {
        let mut parts: Vec<(String, Vec<Uid>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut came = Vec::new();
        for event in events {
            let phrase = phrase(event);
            let at = *places.entry(phrase.clone()).or_insert_with(|| {
                parts.push((phrase, Vec::new()));
                parts.len() - 1
            });
            let Patch::Todo(uid, changes) = &event.patch else { continue };
            if parts[at].1.last() != Some(uid) {
                parts[at].1.push(*uid);
            }
            if event.kind == Kind::Added && came.len() < 2 {
                came.push(changes.iter().find_map(|c| match c {
                    Change::Content(swap) => Some(swap.after.clone()),
                    _ => None,
                }));
            }
        }
        let came = if let [Some(content)] = came.as_slice() { Some(content.clone()) } else { None };
        Self { parts, came }
    }

    /// The todos that will be named.
    pub fn names(&self) -> impl Iterator<Item = Uid> {
        self.parts.iter().take(TOLD).flat_map(|(_, uids)| uids.iter().take(NAMED)).copied()
    }

    /// One line, safe to print.
    pub fn tell(&self, plan: &Plan) -> String {
        let mut out: Vec<String> = self.parts.iter().take(TOLD).map(|part| self.part(part, plan)).collect();
        if self.parts.len() > TOLD {
            out.push(format!("{} more", self.parts.len() - TOLD));
        }
        out.join("; ")
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
        let content = came.map(|c| format!(": {}", text::neutral(&text::clip(c, 120))));
        format!("{} {phrase}{}", names.join(", "), content.unwrap_or_default())
    }
}

/// What the names of these todos need.
pub fn footprint(uids: impl IntoIterator<Item = Uid>) -> Footprint {
    Footprint { todos: uids.into_iter().collect(), ..Footprint::default() }
}

fn name(plan: &Plan, uid: Uid) -> String {
    let id = plan.get(uid).map_or_else(|| format!("#{}", uid.0), |todo| todo.id.clone());
    text::neutral(&text::clip(&id, 60)).into_owned()
}

fn phrase(event: &Event) -> String {
    let changes: &[Change] = if let Patch::Todo(_, changes) = &event.patch { changes } else { &[] };
    let word = match event.kind {
        Kind::Added => "added",
        Kind::Moved => "moved",
        Kind::Rewired => "dependencies changed",
        Kind::Started => "started",
        Kind::Claimed => "claimed",
        Kind::Completed => "completed",
        Kind::Cancelled => "dropped",
        Kind::Failed if ends_failed(changes) => "failed",
        Kind::Failed => "failed, to be tried again",
        Kind::Reopened => "reopened",
        Kind::Held => "put on hold",
        Kind::Released => "released",
        Kind::Demoted => "put back",
        Kind::LeaseExpired => "put back: its lease ran out",
        Kind::Flagged => return flagged(changes),
        Kind::Noted => "noted",
        Kind::Removed => "archived",
        Kind::Phased => "phases changed",
        Kind::PolicySet => "policy changed",
        Kind::Reverted => "changed back",
        Kind::Edited => return edited(changes),
    };
    word.to_owned()
}

fn ends_failed(changes: &[Change]) -> bool {
    changes.iter().any(|c| matches!(c, Change::Status(swap) if swap.after == Status::Failed))
}

/// A flag, or what a check found.
fn flagged(changes: &[Change]) -> String {
    let [Change::Evidence(evidence)] = changes else { return "flagged".to_owned() };
    match evidence.added.last().filter(|one| one.command.is_some()) {
        Some(check) => format!("checked: {}", check.outcome()),
        None => "evidence added".to_owned(),
    }
}

fn edited(changes: &[Change]) -> String {
    let fields: Vec<String> = changes.iter().map(|c| c.field().replace('_', " ")).collect();
    match fields.as_slice() {
        [] => "changed".to_owned(),
        [one] => format!("{one} changed"),
        [many @ .., last] => format!("{} and {last} changed", many.join(", ")),
    }
}
