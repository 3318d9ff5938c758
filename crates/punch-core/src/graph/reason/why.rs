//! Why a todo is where it is, and what to do about it first.

use std::collections::HashSet;

use super::{Capped, PlanAtTime, shown, walk};
use crate::text::{clip, neutral};
use crate::{Dep, Hold, Plan, Status, Todo, Uid};

/// Where a todo stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Can be started.
    Ready,
    /// Nothing unmet, but it is held.
    Held,
    /// Waits for other todos.
    Blocked,
    /// Waits for a todo that was cancelled or failed, so waiting alone does not help.
    Stuck,
    /// In progress.
    Running,
    /// In progress although something it depends on is not done.
    Stalled,
    /// Completed, cancelled, failed or removed.
    Closed,
}

impl Readiness {
    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Held => "held",
            Self::Blocked => "blocked",
            Self::Stuck => "stuck",
            Self::Running => "running",
            Self::Stalled => "stalled",
            Self::Closed => "closed",
        }
    }
}

/// How something stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Can be started now.
    Ready,
    /// Is being worked on.
    Running,
    /// Is held.
    Held,
    /// Waits for todos itself.
    Waiting,
    /// No todo has that id.
    Dangling,
    /// The dependency is suspended: it would close a circle.
    Circle,
    /// Was cancelled or failed.
    Dropped,
}

impl Cause {
    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Held => "held",
            Self::Waiting => "waiting",
            Self::Dangling => "missing",
            Self::Circle => "circle",
            Self::Dropped => "dropped",
        }
    }
}

/// One thing that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// The id waited for.
    pub id: String,
    /// Its todo, unless the id is unknown.
    pub uid: Option<Uid>,
    /// The status a reader sees, unless the id is unknown.
    pub status: Option<Status>,
    /// How it stands in the way.
    pub cause: Cause,
    /// The reason of its hold, if it is held.
    pub reason: Option<String>,
    /// The id of the todo that waits for it.
    pub waiting: String,
}

/// The answer of [`why`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The todo asked about.
    pub id: String,
    /// The status a reader sees.
    pub status: Status,
    /// Where it stands.
    pub standing: Readiness,
    /// What holds the todo itself.
    pub hold: Option<Hold>,
    /// Its own unmet dependencies, in their order.
    pub waits_for: Capped<Blocker>,
    /// Where the chains of waiting begin, nearest first: what must move before anything else can.
    pub roots: Capped<Blocker>,
}

/// Explains a todo; nothing if the plan does not have it.
pub fn why(plan: &Plan, uid: Uid, now: i64) -> Option<Explanation> {
    let look = PlanAtTime { plan, now };
    let todo = plan.get(uid)?;
    let mut out = Explanation {
        id: todo.id.clone(),
        status: todo.status_at(now),
        standing: Readiness::Closed,
        hold: todo.hold_at(now).cloned(),
        waits_for: Capped::default(),
        roots: Capped::default(),
    };
    if !todo.is_live() || !look.state(todo).open() {
        return Some(out);
    }
    let mut dropped = false;
    for (dep, target) in look.unmet(todo) {
        let blocker = look.blocker(todo, dep, target);
        dropped |= blocker.cause == Cause::Dropped;
        out.waits_for.push(blocker);
    }
    out.standing = match (out.status, out.waits_for.total > 0) {
        (Status::InProgress, true) => Readiness::Stalled,
        (Status::InProgress, false) => Readiness::Running,
        (_, true) if dropped => Readiness::Stuck,
        (_, true) => Readiness::Blocked,
        (_, false) if out.hold.is_some() => Readiness::Held,
        (_, false) => Readiness::Ready,
    };
    let mut named = HashSet::new();
    walk(todo, |todo, next| {
        for (dep, target) in look.unmet(todo) {
            let blocker = look.blocker(todo, dep, target);
            // A hold is a beginning of its own even where todos are waited for as well.
            if (blocker.cause != Cause::Waiting || blocker.reason.is_some())
                && named.insert((blocker.id.clone(), blocker.cause))
            {
                out.roots.push(blocker);
            }
            next.extend(target.filter(|t| look.state(t).open()));
        }
    });
    Some(out)
}

impl<'a> PlanAtTime<'a> {
    pub(super) fn blocker(self, waiting: &Todo, dep: &Dep, target: Option<&'a Todo>) -> Blocker {
        let hold = target.and_then(|t| t.hold_at(self.now));
        let status = target.map(|t| t.status_at(self.now));
        let waits = || target.is_some_and(|t| self.unmet(t).next().is_some());
        let cause = match (dep, status) {
            (_, None) => Cause::Dangling,
            (Dep::Suspended(_), _) => Cause::Circle,
            (_, Some(Status::Pending | Status::InProgress)) if waits() => Cause::Waiting,
            (_, Some(Status::InProgress)) => Cause::Running,
            (_, Some(Status::Pending)) if hold.is_some() => Cause::Held,
            (_, Some(Status::Pending)) => Cause::Ready,
            (_, Some(_)) => Cause::Dropped,
        };
        let id = match (target, dep) {
            (Some(target), _) => target.id.clone(),
            (None, Dep::Dangling(id)) => id.clone(),
            (None, Dep::On(uid) | Dep::Suspended(uid)) => format!("#{}", uid.0),
        };
        Blocker {
            id,
            uid: target.map(|t| t.uid),
            status,
            cause,
            reason: hold.map(|h| h.reason.clone()),
            waiting: waiting.id.clone(),
        }
    }
}

impl Blocker {
    /// A few words, safe to print.
    pub fn text(&self) -> String {
        let how = match (self.cause, self.status) {
            (Cause::Dangling, _) => "no such todo".to_owned(),
            (Cause::Circle, _) if self.id == self.waiting => "waits for itself".to_owned(),
            (Cause::Circle, _) => format!("in a circle with {}", shown(&self.waiting)),
            (Cause::Dropped, Some(status)) => format!("{}, so this is stuck", status.name()),
            (Cause::Waiting, Some(Status::InProgress)) => "in_progress, stalled".to_owned(),
            (Cause::Waiting, _) => "waits itself".to_owned(),
            (Cause::Ready, _) => "ready".to_owned(),
            (Cause::Running, _) => "in_progress".to_owned(),
            (Cause::Held | Cause::Dropped, _) => String::new(),
        };
        let held = self.reason.as_deref().map(|reason| format!("held: {}", neutral(&clip(reason, 80))));
        let parts: Vec<String> = [Some(how).filter(|h| !h.is_empty()), held].into_iter().flatten().collect();
        format!("{} ({})", shown(&self.id), parts.join(", "))
    }
}

impl Explanation {
    /// A line or three, safe to print.
    pub fn text(&self) -> String {
        let standing = match self.standing {
            Readiness::Closed => self.status.name(),
            standing => standing.name(),
        };
        let mut out = format!("{} is {standing}", shown(&self.id));
        if let Some(hold) = &self.hold {
            out += &format!("\nheld ({}): {}", hold.kind.name(), neutral(&clip(&hold.reason, 200)));
        }
        if self.waits_for.total > 0 {
            out += &format!("\nwaits for {}: {}", self.waits_for.total, self.waits_for.words(Blocker::text));
        }
        // Where waiting has only one step the beginnings are the same list again.
        if self.roots != self.waits_for && self.roots.total > 0 {
            out += &format!("\nbegins with {}: {}", self.roots.total, self.roots.words(Blocker::text));
        }
        out
    }
}
