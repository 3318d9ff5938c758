//! Why nothing, or nothing else, can be started: where all the waiting in a plan begins.

use std::collections::HashSet;

use super::{Blocker, Capped, Cause, PlanAtTime, shown, unblocks};
use crate::{HoldKind, Plan, Status, Todo};

/// One beginning of waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// What it is.
    pub blocker: Blocker,
    /// How many open todos wait for it, however indirectly.
    pub waiting: usize,
}

/// The answer of [`standstill`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standstill {
    /// Open todos.
    pub open: usize,
    /// Ids of what can be started, best first.
    pub ready: Capped<String>,
    /// Ids of what is in progress and waits for nothing.
    pub running: Capped<String>,
    /// Holds for people first, other holds, what was dropped, what does not exist, circles, what is in progress.
    pub roots: Capped<Root>,
}

/// A root before it is known which ones are listed, with what sorts it.
struct RankedRoot<'a> {
    rank: u8,
    todo: &'a Todo,
    blocker: Blocker,
}

/// Looks at everything open.
pub fn standstill(plan: &Plan, now: i64) -> Standstill {
    let look = PlanAtTime { plan, now };
    let mut open: Vec<&Todo> = plan.all().filter(|t| t.is_live() && look.state(t).open()).collect();
    open.sort_by_key(|t| (t.effective_priority(), t.position, t.uid));
    let mut out = Standstill { open: open.len(), ..Standstill::default() };
    let mut named: HashSet<(String, Cause)> = HashSet::new();
    let mut found: Vec<RankedRoot<'_>> = Vec::new();
    for todo in open {
        let mut waits = false;
        for (dep, target) in look.unmet(todo) {
            waits = true;
            let blocker = look.blocker(todo, dep, target);
            let rank = match blocker.cause {
                Cause::Dropped => 3,
                Cause::Dangling => 4,
                Cause::Circle => 5,
                Cause::Ready | Cause::Running | Cause::Held | Cause::Waiting => continue,
            };
            if named.insert((blocker.id.clone(), blocker.cause)) {
                found.push(RankedRoot { rank, todo: target.unwrap_or(todo), blocker });
            }
        }
        let status = todo.status_at(now);
        let mut own = |cause: Cause, rank: u8| {
            let reason = todo.hold_at(now).map(|hold| hold.reason.clone());
            let (id, waiting) = (todo.id.clone(), todo.id.clone());
            let blocker = Blocker { id, uid: Some(todo.uid), status: Some(status), cause, reason, waiting };
            found.push(RankedRoot { rank, todo, blocker });
        };
        match (status, todo.hold_at(now)) {
            (Status::InProgress, _) if !waits => {
                out.running.push(todo.id.clone());
                own(Cause::Running, 6);
            }
            (Status::InProgress, _) => {}
            (_, Some(hold)) => own(Cause::Held, rank(hold.kind)),
            (_, None) if !waits => out.ready.push(todo.id.clone()),
            (_, None) => {}
        }
    }
    found.sort_by_key(|root| (root.rank, root.todo.effective_priority(), root.todo.position, root.todo.uid));
    for (at, RankedRoot { blocker, .. }) in found.into_iter().enumerate() {
        // Walking the plan is worth it only for what will be shown.
        let waiting = if at < super::LISTED { waiting(plan, &blocker, now) } else { 0 };
        out.roots.push(Root { blocker, waiting });
    }
    out
}

/// Holds for users come first; a timer ends by itself.
const fn rank(kind: HoldKind) -> u8 {
    match kind {
        HoldKind::Human => 0,
        HoldKind::External | HoldKind::Job | HoldKind::Other => 1,
        HoldKind::Timer => 2,
    }
}

fn waiting(plan: &Plan, blocker: &Blocker, now: i64) -> usize {
    match blocker.uid {
        Some(uid) => unblocks(plan, uid, now).map_or(0, |u| u.waiting),
        None => plan.waiting_for_id(&blocker.id).map_or(0, |uids| uids.len()),
    }
}

impl Root {
    /// A line, safe to print.
    pub fn text(&self) -> String {
        match self.waiting {
            0 => self.blocker.text(),
            1 => format!("{}; 1 waits for it", self.blocker.text()),
            waiting => format!("{}; {waiting} wait for it", self.blocker.text()),
        }
    }
}

impl Standstill {
    /// In a word: `ready`, `running`, `waiting` or `closed`.
    pub const fn standing(&self) -> &'static str {
        match (self.open, self.ready.total, self.running.total) {
            (0, _, _) => "closed",
            (_, 1.., _) => "ready",
            (_, 0, 1..) => "running",
            (_, 0, 0) => "waiting",
        }
    }

    /// A few lines, safe to print.
    pub fn text(&self) -> String {
        let mut out = match (self.open, self.ready.total) {
            (0, _) => return "Nothing is open.".to_owned(),
            (open, 0) => format!("Nothing can be started; {open} open."),
            (open, ready) => {
                format!("{ready} of {open} open can be started: {}", self.ready.words(|id| shown(id)))
            }
        };
        if self.roots.total > 0 {
            out += if self.ready.total > 0 { "\nThe rest waits for:" } else { "\nWaits for:" };
        }
        for root in &self.roots.list {
            out += &format!("\n  {}", root.text());
        }
        if self.roots.total > self.roots.list.len() {
            out += &format!("\n  {} more", self.roots.total - self.roots.list.len());
        }
        out
    }
}
