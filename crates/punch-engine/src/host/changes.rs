//! What happened in the plan that a conversation does not know of, in a few lines.

use std::collections::{BTreeMap, BTreeSet};

use punch_core::drive::{Cover, READ, estimate, quote};
use punch_core::{Actor, Event, Footprint, Kind, Patch, Plan, Todo, Uid};

use super::listen::{Listener, PlanSession};
use crate::call::names::Names;
use crate::{EngineError, Role};

/// Events that are looked at in one step, and steps.
const EVENTS: usize = 2_000;
const PAGES: usize = 10;
/// Todos that are named, and tokens that it may cost.
const NAMED: usize = 10;
const TOKENS: usize = 250;

/// What happened to each todo, in order.
pub(super) type TodoChanges = BTreeMap<Uid, Vec<Kind>>;

impl Listener<'_> {
    /// Tells the agent what the user changed since that was last reported (seed 001: an edit by the user is on purpose).
    pub(super) fn report_user_changes(&self, who: &mut PlanSession) -> Result<Option<String>, EngineError> {
        let kinds = self.take_up_user_todos(who)?;
        who.state.drive.told = self.snapshot.row()?.revision;
        let head = "A person changed the plan since you last saw it, on purpose: work with it as it is, do not rebuild \
                    or undo it.";
        self.described(who, &kinds, head)
    }

    /// Everything that a conversation forgot when it was wound back.
    pub(super) fn since_rewind(&self, who: &PlanSession, since: u64) -> Result<Option<String>, EngineError> {
        let head =
            "The conversation went back to an earlier point, the plan did not: work with it as it is now. Since then:";
        let kinds = self.changes(since, &|_| true)?;
        self.described(who, &kinds, head)
    }

    /// A session that answers for a list also answers for open todos that the user added while it worked. Leaving them
    /// out of its next list removes nothing: it may never have seen them. Returns what the user did that is not reported
    /// yet.
    pub(super) fn take_up_user_todos(&self, who: &mut PlanSession) -> Result<TodoChanges, EngineError> {
        let kinds = self.user_changes(who.state.reported())?;
        if kinds.is_empty() {
            who.state.drive.told = self.snapshot.row()?.revision;
            return Ok(kinds);
        }
        let Cover::List(covered) = who.cover() else { return Ok(kinds) };
        if !who.bound() || who.state.role == Role::Worker || self.report.key.subagent().is_some() {
            return Ok(kinds);
        }
        let is_new = |(uid, kinds): &(&Uid, &Vec<Kind>)| kinds.contains(&Kind::Added) && !covered.contains(uid);
        let added: BTreeSet<Uid> = kinds.iter().filter(is_new).map(|(uid, _)| *uid).collect();
        if added.is_empty() {
            return Ok(kinds);
        }
        let mut part = Plan::slice(self.snapshot.row()?);
        self.snapshot.load(&Footprint { todos: added.clone(), ..Footprint::default() }, &mut part)?;
        let open = |uid: &Uid| part.get(*uid).is_some_and(|todo| todo.is_live() && todo.status.is_open());
        who.state.beyond.extend(added.into_iter().filter(open));
        Ok(kinds)
    }

    fn user_changes(&self, since: u64) -> Result<TodoChanges, EngineError> {
        // A user who gives a name signs with it; agents sign with the name of their program.
        let named = self.settings.owner.value.as_deref();
        self.changes(since, &|event| Actor::parse(&event.by, None).is_user() || named == Some(event.by.as_str()))
    }

    fn changes(&self, mut since: u64, wanted: &dyn Fn(&Event) -> bool) -> Result<TodoChanges, EngineError> {
        let mut kinds = TodoChanges::new();
        let revision = self.snapshot.row()?.revision;
        for _ in 0..PAGES {
            if since >= revision {
                break;
            }
            let events = self.snapshot.events(since, EVENTS)?;
            let Some(last) = events.last() else { break };
            since = last.revision;
            for event in events.iter().filter(|event| wanted(event)) {
                if let Patch::Todo(uid, _) = &event.patch {
                    kinds.entry(*uid).or_default().push(event.kind);
                }
            }
        }
        Ok(kinds)
    }

    fn described(&self, who: &PlanSession, kinds: &TodoChanges, head: &str) -> Result<Option<String>, EngineError> {
        if kinds.is_empty() {
            return Ok(None);
        }
        let mut part = Plan::slice(self.snapshot.row()?);
        let first: BTreeSet<Uid> = kinds.keys().copied().take(NAMED).collect();
        self.snapshot.load(&Footprint { todos: first.clone(), ..Footprint::default() }, &mut part)?;
        let mut out = head.to_owned();
        let mut left = kinds.len();
        let names = Names::of(&who.state);
        for todo in first.iter().filter_map(|uid| part.get(*uid)) {
            let todo = names.labelled(todo.clone());
            let line = format!("\n- {}", self.change(&todo, &kinds[&todo.uid]));
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
