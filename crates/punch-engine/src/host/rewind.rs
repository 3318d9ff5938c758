//! Tells a rewound conversation in a few lines what happened in the plan during the turns that it lost.

use std::collections::BTreeSet;

use punch_core::drive::{estimate, quote};
use punch_core::{Event, EventKind, Footprint, Plan, Todo, Uid};

use super::listen::{Listener, PlanSession};
use super::naming::TodoNaming;
use crate::EngineError;
use crate::user_changes::events_after;

/// Todos that are named, and tokens that it may cost.
const NAMED: usize = 10;
const TOKENS: usize = 250;

impl Listener<'_> {
    /// Everything that a conversation forgot when it was wound back.
    pub(super) fn since_rewind(&self, who: &PlanSession, since: u64) -> Result<Option<String>, EngineError> {
        let read = events_after(self.snapshot, since, self.now, &|_| true)?;
        let (events, is_all) = (read.events, !read.more);
        if events.is_empty() && is_all {
            return Ok(None);
        }
        let mut part = Plan::slice(self.snapshot.row()?);
        let first: BTreeSet<Uid> = events.keys().copied().take(NAMED).collect();
        self.snapshot.load(&Footprint { todos: first.clone(), ..Footprint::default() }, &mut part)?;
        let mut out =
            "The conversation went back to an earlier point; the plan did not: work with it as it is now. Since then:"
                .to_owned();
        let mut left = events.len();
        let naming = TodoNaming::of(&who.state, self.settings);
        for todo in first.iter().filter_map(|uid| part.get(*uid)) {
            let line = format!("\n- {}", self.change(&naming.name(todo), todo, &events[&todo.uid]));
            if estimate(&out) + estimate(&line) > TOKENS {
                break;
            }
            out += &line;
            left -= 1;
        }
        let how = naming.list_words(self.settings).shows("shows the list as it is");
        if !is_all {
            out += &format!("\n- more than can be listed{how}");
        } else if left > 0 {
            out += &format!("\n- {left} more{how}");
        }
        Ok(Some(out))
    }

    fn change(&self, name: &str, todo: &Todo, events: &[Event]) -> String {
        let has = |kind: EventKind| events.iter().any(|event| event.kind == kind);
        let (id, content) = (quote(name, 40), quote(&todo.content, 80));
        if !todo.is_live() {
            return format!("{id} was removed");
        }
        let status = todo.status_at(self.now).name();
        if has(EventKind::Added) {
            return format!("{id} was added ({status}): \"{content}\"");
        }
        match todo.hold_at(self.now) {
            Some(hold) if has(EventKind::Held) => format!("{id} is on hold: \"{}\"", quote(&hold.reason, 80)),
            _ if has(EventKind::Edited) => format!("{id} was edited ({status}): \"{content}\""),
            _ if events.iter().all(|event| event.kind == EventKind::Moved) => format!("{id} was moved"),
            _ => format!("{id} is {status} now: \"{content}\""),
        }
    }
}
