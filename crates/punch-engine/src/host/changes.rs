//! What happened in the plan that a conversation does not know of, in a few lines.

use std::collections::{BTreeMap, BTreeSet};

use punch_core::drive::{READ, estimate, quote};
use punch_core::{Actor, Event, Footprint, Kind, Patch, Plan, Todo, Uid};

use super::listen::Listener;
use crate::EngineError;

/// Events that are looked at, todos that are named, tokens that it may cost.
const EVENTS: usize = 2_000;
const NAMED: usize = 10;
const TOKENS: usize = 250;

impl Listener<'_> {
    /// What people changed after a revision (seed 001: an edit by the user is on purpose).
    pub(super) fn changed_by_people(&self, since: u64) -> Result<Option<String>, EngineError> {
        // A user who gives a name signs with it; agents sign with the name of their program.
        let named = self.settings.owner.value.as_deref();
        let user = |by: &str| Actor::parse(by, None).is_user() || named == Some(by);
        let head = "A person changed the plan since you last saw it, on purpose: work with it as it is, do not rebuild \
                    or undo it.";
        self.told(since, head, &|event| user(&event.by))
    }

    /// Everything that a conversation forgot when it was wound back.
    pub(super) fn since_rewind(&self, since: u64) -> Result<Option<String>, EngineError> {
        let head =
            "The conversation went back to an earlier point, the plan did not: work with it as it is now. Since then:";
        self.told(since, head, &|_| true)
    }

    fn told(&self, since: u64, head: &str, wanted: &dyn Fn(&Event) -> bool) -> Result<Option<String>, EngineError> {
        let row = self.snapshot.row()?;
        if since >= row.revision {
            return Ok(None);
        }
        let mut kinds: BTreeMap<Uid, Vec<Kind>> = BTreeMap::new();
        for event in self.snapshot.events(since, EVENTS)?.iter().filter(|event| wanted(event)) {
            if let Patch::Todo(uid, _) = &event.patch {
                kinds.entry(*uid).or_default().push(event.kind);
            }
        }
        if kinds.is_empty() {
            return Ok(None);
        }
        let mut part = Plan::slice(row);
        let first: BTreeSet<Uid> = kinds.keys().copied().take(NAMED).collect();
        self.snapshot.load(&Footprint { todos: first.clone(), ..Footprint::default() }, &mut part)?;
        let mut out = head.to_owned();
        let mut left = kinds.len();
        for todo in first.iter().filter_map(|uid| part.get(*uid)) {
            let line = format!("\n- {}", self.change(todo, &kinds[&todo.uid]));
            if estimate(&out) + estimate(&line) > TOKENS {
                break;
            }
            out += &line;
            left -= 1;
        }
        if left > 0 {
            out += &format!("\n- {left} more; {READ} shows the list as it is");
        }
        Ok(Some(out))
    }

    fn change(&self, todo: &Todo, kinds: &[Kind]) -> String {
        let (id, content) = (quote(&todo.id, 40), quote(&todo.content, 80));
        if !todo.is_live() {
            return format!("{id} was removed");
        }
        let status = todo.status_at(self.now).name();
        if kinds.contains(&Kind::Added) {
            return format!("{id} was added ({status}): \"{content}\"");
        }
        match todo.hold_at(self.now) {
            Some(hold) if kinds.contains(&Kind::Held) => format!("{id} is held: \"{}\"", quote(&hold.reason, 80)),
            _ if kinds.contains(&Kind::Edited) => format!("{id} was edited ({status}): \"{content}\""),
            _ if kinds.iter().all(|kind| matches!(kind, Kind::Moved)) => format!("{id} was moved"),
            _ => format!("{id} is {status} now: \"{content}\""),
        }
    }
}
