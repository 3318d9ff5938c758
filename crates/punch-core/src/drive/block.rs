//! Where waiting begins: what stands in the way of open todos, found by walking down what they wait for.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::facts::{CLIPPED, is_blank, is_elsewhere};
use crate::graph::NodeState;
use crate::text::clip;
use crate::{Dep, Footprint, HoldKind, Need, Plan, Status, Todo, Uid};

/// Blocks that are named.
const NAMED: usize = 50;

/// Why a block does not move by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A person must decide or answer.
    Person,
    /// Something outside must happen, or the user must release it.
    Hold,
    /// A time must come.
    Timer,
    /// Another owner works on it.
    Elsewhere,
    /// It was reported as done, and waits for verification.
    Reported,
    /// It was cancelled or failed.
    Dropped,
    /// No todo has that id.
    Missing,
    /// It is part of a circle.
    Circle,
    /// It says nothing that could be done.
    Blank,
}

impl Block {
    fn new(id: &str, cause: Cause, about: &str) -> Self {
        Self { id: clip(id, CLIPPED).into_owned(), cause, about: clip(about, CLIPPED).into_owned() }
    }
}

impl Cause {
    const fn of(kind: HoldKind) -> Self {
        match kind {
            HoldKind::Human => Self::Person,
            HoldKind::Timer => Self::Timer,
            HoldKind::External | HoldKind::Job | HoldKind::Other => Self::Hold,
        }
    }
}

/// One beginning of waiting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// The id.
    pub id: String,
    /// Why it does not move.
    pub cause: Cause,
    /// What was said about it: the reason of a hold, the name of an owner.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
}

/// Everything that stands in the way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Roots {
    /// The first of them: people first.
    pub named: Vec<Block>,
    /// All that were found.
    pub total: u64,
    /// There was too much to look at everything.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Open todos of the weakest priority that nothing stands in the way of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub optional: Vec<String>,
}

impl Roots {
    /// Every one of them waits for a person.
    pub fn only_people(&self) -> bool {
        self.total > 0 && !self.cut && self.named.iter().all(|block| block.cause == Cause::Person)
    }
}

/// Walks down from `start`, looking at no more than `limit` todos.
pub fn roots(plan: &Plan, start: &[Uid], owner: Option<&str>, now: i64, limit: usize) -> Result<Roots, Need> {
    let mut walk = Walk { plan, owner, now, seen: HashSet::new(), found: Vec::new(), out: Roots::default() };
    let mut layer: Vec<Uid> = start.to_vec();
    while !layer.is_empty() {
        layer.retain(|uid| walk.seen.insert(*uid));
        if walk.seen.len() > limit {
            walk.out.cut = true;
            layer.truncate(layer.len().saturating_sub(walk.seen.len() - limit));
        }
        Footprint::gather(layer.iter().map(|uid| plan.need(*uid)))?;
        let mut next = Vec::new();
        for todo in layer.iter().filter_map(|uid| plan.get(*uid)) {
            walk.visit(todo, &mut next)?;
        }
        layer = if walk.out.cut { Vec::new() } else { next };
    }
    Ok(walk.finish())
}

struct Walk<'a> {
    plan: &'a Plan,
    owner: Option<&'a str>,
    now: i64,
    seen: HashSet<Uid>,
    found: Vec<Block>,
    out: Roots,
}

impl Walk<'_> {
    fn state(&self, todo: &Todo) -> NodeState {
        NodeState::of(todo, self.plan.row.policy.cancelled_dep, self.now)
    }

    fn visit(&mut self, todo: &Todo, next: &mut Vec<Uid>) -> Result<(), Need> {
        if !todo.is_live() || !self.state(todo).open() {
            return Ok(());
        }
        let mut add = |id: &str, cause, about: &str| {
            self.found.push(Block::new(id, cause, about));
        };
        if is_elsewhere(todo, self.owner, self.now) {
            add(&todo.id, Cause::Elsewhere, todo.owner.as_deref().unwrap_or_default());
            return Ok(());
        }
        let running = todo.status_at(self.now) == Status::InProgress;
        if let Some(hold) = todo.hold_at(self.now).filter(|_| !running) {
            add(&todo.id, Cause::of(hold.kind), &hold.reason);
        } else if todo.derived.unmet == 0 {
            if is_blank(todo) {
                add(&todo.id, Cause::Blank, "");
            } else if todo.flags.reported {
                add(&todo.id, Cause::Reported, "");
            } else if super::facts::is_optional(todo) {
                self.out.optional.push(todo.id.clone());
            }
        }
        if todo.derived.unmet == 0 {
            return Ok(());
        }
        let targets = todo.depends_on.iter().filter_map(Dep::target);
        Footprint::gather(targets.map(|uid| self.plan.need(uid)))?;
        for dep in &todo.depends_on {
            let target = dep.target().and_then(|uid| self.plan.get(uid));
            match (dep, target) {
                (Dep::Dangling(id), _) => self.found.push(Block::new(id, Cause::Missing, "")),
                (_, Some(target)) if !target.is_live() || self.state(target).satisfied() => {}
                // Before a circle: it can be taken up again, which a circle cannot.
                (_, Some(target)) if !self.state(target).open() => {
                    self.found.push(Block::new(&target.id, Cause::Dropped, target.status.name()));
                }
                (Dep::Suspended(_), Some(target)) => self.found.push(Block::new(&target.id, Cause::Circle, "")),
                (_, Some(target)) => next.push(target.uid),
                (_, None) => {}
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Roots {
        self.found.sort_by(|a, b| (a.cause, &a.id).cmp(&(b.cause, &b.id)));
        self.found.dedup_by(|a, b| a.cause == b.cause && a.id == b.id);
        self.out.total = self.found.len() as u64;
        self.found.truncate(NAMED);
        self.out.named = self.found;
        self.out.optional.truncate(NAMED);
        self.out
    }
}
