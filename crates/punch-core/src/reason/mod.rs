//! Why a todo is not worked on: one enum of causes, and one place that judges them. Lists, `ready`, `next`, claims, starts,
//! schedules, `why`, tools and hooks all ask here, so that they give the same answer.
//!
//! [`PlanReader`] looks at one todo and what is directly around it; [`roots`] walks down to where waiting begins; [`why`] and
//! [`standstill()`] explain one todo and a whole plan. Slices answer with what must be loaded first.

mod conflict;
mod explain;
mod limits;
mod ready;
mod standstill;
mod stranded;
mod unblock;
mod walk;
mod words;

use serde::{Deserialize, Serialize};

pub use conflict::{Clash, TodoConflict, TodoConflicts, conflicts, conflicts_of};
pub use explain::{Explanation, why};
pub use limits::WorkLimits;
pub use ready::{is_busy, is_elsewhere, is_empty, is_optional, is_startable, own_work, shared_files};
pub use standstill::{Standstill, StandstillRoot, standstill};
pub use stranded::stranded;
pub use unblock::{Unblocks, unblocks};
pub use walk::{WaitRoots, roots};
pub use words::summary;
pub(crate) use words::{MARKS, shown};

use crate::graph::NodeState;
use crate::{Dep, Footprint, HoldKind, Need, Plan, ShownStatus, Status, Todo, Uid};

/// The number of entries of a list that are kept.
pub const LISTED: usize = 20;

/// What stands in the way of a todo. Sorted by who can do something about it: users first, then what nobody works on, then
/// what moves by itself. Stored with decisions, and the names in JSON are promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// A user must decide or answer.
    Person,
    /// Something outside must happen, or the user must release it.
    Hold,
    /// A time must come.
    Timer,
    /// The todo is parked: set aside until the user takes it off hold.
    Parked,
    /// It was cancelled or failed.
    Dropped,
    /// No todo has that id.
    Missing,
    /// The dependency would close a cycle.
    #[serde(rename = "circle")]
    Cycle,
    /// It has no content, so there is nothing that could be done.
    Blank,
    /// The todo is larger than a whole budget and needs the user's confirmation.
    Oversize,
    /// It has the weakest priority, and such todos are left out.
    Optional,
    /// It was reported as done and waits for verification.
    Reported,
    /// Another owner works on it.
    Elsewhere,
    /// Another todo in progress touches the same files.
    Files,
    /// The todo is in progress.
    Running,
    /// It waits for other todos itself.
    Waiting,
    /// The todo can be started.
    Ready,
}

impl Cause {
    /// Every [name](Self::name).
    pub(crate) const NAMES: [&str; 12] = [
        "held", "dropped", "missing", "circle", "blank", "oversize", "optional", "reported", "running", "files",
        "waiting", "ready",
    ];

    /// The cause of a hold.
    pub const fn of_hold(kind: HoldKind) -> Self {
        match kind {
            HoldKind::Human | HoldKind::Conflict => Self::Person,
            HoldKind::Timer => Self::Timer,
            HoldKind::Parked => Self::Parked,
            HoldKind::External | HoldKind::Job | HoldKind::Other => Self::Hold,
        }
    }

    /// The name in the JSON of `punch why`, where all holds are `held`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Person | Self::Hold | Self::Timer | Self::Parked => "held",
            Self::Dropped => "dropped",
            Self::Missing => "missing",
            Self::Cycle => "circle",
            Self::Blank => "blank",
            Self::Oversize => "oversize",
            Self::Optional => "optional",
            Self::Reported => "reported",
            Self::Files => "files",
            Self::Elsewhere | Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Ready => "ready",
        }
    }

    /// Finds a cause by its [name](Self::name). Every kind of hold is read as [`Cause::Hold`], and work of any owner as
    /// [`Cause::Running`].
    pub fn named(name: &str) -> Option<Self> {
        let causes = [
            Self::Hold,
            Self::Dropped,
            Self::Missing,
            Self::Cycle,
            Self::Blank,
            Self::Oversize,
            Self::Optional,
            Self::Reported,
            Self::Files,
            Self::Running,
            Self::Waiting,
            Self::Ready,
        ];
        causes.into_iter().find(|cause| cause.name() == name)
    }

    /// Returns true if the todo named by the reason is on hold.
    pub const fn is_hold(self) -> bool {
        matches!(self, Self::Person | Self::Hold | Self::Timer | Self::Parked)
    }
}

/// One reason why a todo cannot be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitReason {
    /// The cause of the block.
    pub cause: Cause,
    /// The id of the blocking todo; the todo's own id if the reason is in the todo itself.
    pub id: String,
    /// The todo with that id, unless the id is unknown.
    pub uid: Option<Uid>,
    /// The status that a reader sees of it.
    pub status: Option<Status>,
    /// What there is to say: the text of a hold, the name of an owner, the shared files.
    pub about: Option<String>,
    /// When it ends by itself: the end of a lease or of a timer.
    pub until: Option<i64>,
    /// The id of the todo that waits.
    pub needed_by: String,
}

impl WaitReason {
    fn own(cause: Cause, todo: &Todo, now: i64) -> Self {
        Self {
            cause,
            id: todo.id.clone(),
            uid: Some(todo.uid),
            status: Some(todo.status_at(now)),
            about: None,
            until: None,
            needed_by: todo.id.clone(),
        }
    }

    /// A todo that waits for another open one, which cannot be worked on itself.
    pub(crate) fn waiting(todo: &Todo, on: &Todo) -> Self {
        let (cause, status) = (Cause::Waiting, Some(on.status));
        let (id, needed_by) = (on.id.clone(), todo.id.clone());
        Self { cause, id, uid: Some(on.uid), status, about: None, until: None, needed_by }
    }

    fn about(self, about: impl Into<String>) -> Self {
        Self { about: Some(about.into()).filter(|about| !about.is_empty()), ..self }
    }

    fn until(self, until: Option<i64>) -> Self {
        Self { until, ..self }
    }

    fn needed_by(self, todo: &Todo) -> Self {
        Self { needed_by: todo.id.clone(), ..self }
    }

    /// Returns true if the reason is in the waiting todo itself.
    pub fn is_own(&self) -> bool {
        self.id == self.needed_by && !matches!(self.cause, Cause::Cycle | Cause::Missing)
    }
}

/// A plan as one reader sees it at one time.
#[derive(Clone, Copy, Debug)]
pub struct PlanReader<'a> {
    /// The plan, whole or a slice. What is not loaded is not judged; see [`need`].
    pub plan: &'a Plan,
    /// The name under which the reader works; `None` is the user.
    pub owner: Option<&'a str>,
    /// The time.
    pub now: i64,
    /// How much work the reader takes on at once.
    pub limits: WorkLimits,
}

impl<'a> PlanReader<'a> {
    /// The plan as the user sees it.
    pub const fn new(plan: &'a Plan, now: i64) -> Self {
        Self::of(plan, None, now)
    }

    /// The plan as an owner sees it.
    pub const fn of(plan: &'a Plan, owner: Option<&'a str>, now: i64) -> Self {
        Self { plan, owner, now, limits: WorkLimits::USUAL }
    }

    /// Returns this reader with other limits than the usual ones.
    #[must_use]
    pub const fn within(self, limits: WorkLimits) -> Self {
        Self { limits, ..self }
    }

    fn state(self, todo: &Todo) -> NodeState {
        NodeState::of(todo, self.plan.row.policy.cancelled_dep, self.now)
    }

    fn is_open(self, todo: &Todo) -> bool {
        todo.is_live() && self.state(todo).open()
    }

    /// Returns the unmet dependencies, each with its todo unless no todo has that id. A removed todo counts as met.
    fn unmet(self, todo: &'a Todo) -> impl Iterator<Item = (&'a Dep, Option<&'a Todo>)> {
        let known = move |dep: &'a Dep| (dep, dep.target().and_then(|uid| self.plan.get(uid)));
        todo.depends_on
            .iter()
            .map(known)
            .filter(move |(_, target)| target.is_none_or(|t| t.is_live() && !self.state(t).satisfied()))
    }

    fn is_elsewhere(self, todo: &Todo) -> bool {
        is_elsewhere(todo, self.owner, self.now)
    }

    /// Returns the todo in progress that touches the same files, with the two globs that overlap (rule 48).
    pub fn file_conflict(self, todo: &Todo) -> Option<(&'a Todo, String, String)> {
        if todo.files.is_empty() {
            return None;
        }
        let mut busy = self.plan.running().filter(|other| other.uid != todo.uid && is_busy(other, self.now));
        busy.find_map(|other| {
            shared_files(todo, other).map(|(mine, theirs)| (other, mine.to_owned(), theirs.to_owned()))
        })
    }

    /// Returns true if the todo can be started now: ready, with content, and touching no files of work in progress.
    pub fn is_ready(self, todo: &Todo) -> bool {
        todo.is_ready(self.now) && !is_empty(todo) && self.file_conflict(todo).is_none()
    }

    /// Returns how the todo blocks those that depend on it.
    fn standing(self, todo: &Todo) -> WaitReason {
        let own = |cause| WaitReason::own(cause, todo, self.now);
        match todo.status_at(self.now) {
            Status::Completed | Status::Cancelled | Status::Failed => own(Cause::Dropped).about(todo.status.name()),
            Status::InProgress if self.is_elsewhere(todo) => self.claim(todo),
            Status::InProgress if todo.derived.unmet > 0 => own(Cause::Waiting),
            Status::InProgress if todo.flags.reported => own(Cause::Reported),
            Status::InProgress => own(Cause::Running),
            Status::Pending if todo.derived.unmet > 0 => own(Cause::Waiting).about(self.hold_text(todo)),
            Status::Pending => match self.own_reason(todo) {
                None => own(Cause::Ready),
                Some(reason) if reason.cause == Cause::Files => own(Cause::Waiting),
                Some(reason) => reason,
            },
        }
    }

    fn claim(self, todo: &Todo) -> WaitReason {
        let reason = WaitReason::own(Cause::Elsewhere, todo, self.now);
        reason.about(todo.owner.as_deref().unwrap_or_default()).until(todo.lease_until)
    }

    fn hold_text(self, todo: &Todo) -> &str {
        todo.hold_at(self.now).map_or("", |hold| hold.reason.as_str())
    }

    fn hold(self, todo: &Todo) -> Option<WaitReason> {
        let hold = todo.hold_at(self.now)?;
        let reason = WaitReason::own(Cause::of_hold(hold.kind), todo, self.now);
        // A todo that is parked without words has the word itself as its reason.
        let about = if hold.is_parked_without_words() { "" } else { &hold.reason };
        Some(reason.about(about).until(hold.until))
    }

    /// What keeps a pending todo from being started besides its dependencies.
    fn own_reason(self, todo: &Todo) -> Option<WaitReason> {
        let own = |cause| WaitReason::own(cause, todo, self.now);
        let blank = || is_empty(todo).then(|| own(Cause::Blank));
        self.hold(todo).or_else(blank).or_else(|| self.file_reason(todo))
    }

    /// The file conflict of a todo as a reason.
    pub(crate) fn file_reason(self, todo: &Todo) -> Option<WaitReason> {
        let (other, mine, theirs) = self.file_conflict(todo)?;
        let files = if mine == theirs { mine } else { format!("{mine}, {theirs}") };
        let reason = WaitReason::own(Cause::Files, other, self.now).about(files);
        Some(reason.until(other.lease_until).needed_by(todo))
    }

    /// An unmet dependency as a reason of the todo that waits for it.
    fn dependency(self, waiting: &Todo, dep: &Dep, target: Option<&'a Todo>) -> WaitReason {
        let Some(target) = target else {
            let id = match dep {
                Dep::Dangling(id) => id.clone(),
                Dep::On(uid) | Dep::Suspended(uid) => format!("#{}", uid.0),
            };
            let (about, needed_by) = (None, waiting.id.clone());
            return WaitReason { cause: Cause::Missing, id, uid: None, status: None, about, until: None, needed_by };
        };
        let reason = self.standing(target).needed_by(waiting);
        match dep {
            // A cancelled todo can be reopened, which a cycle cannot.
            Dep::Suspended(_) if reason.cause != Cause::Dropped => {
                WaitReason { cause: Cause::Cycle, about: self.hold(target).and_then(|hold| hold.about), ..reason }
            }
            Dep::On(_) | Dep::Suspended(_) | Dep::Dangling(_) => reason,
        }
    }

    /// What keeps an open todo from ever being worked on as things are, other open todos apart: a hold, no content, or a
    /// dependency that will not be met by working on it.
    pub fn obstacle(self, todo: &'a Todo) -> Option<WaitReason> {
        let hopeless = |(dep, target): &(&Dep, Option<&Todo>)| {
            matches!(dep, Dep::Suspended(_)) || target.is_none_or(|target| self.state(target) == NodeState::Dropped)
        };
        let dependency = || {
            let (dep, target) = self.unmet(todo).find(hopeless)?;
            Some(self.dependency(todo, dep, target))
        };
        let blank = || is_empty(todo).then(|| WaitReason::own(Cause::Blank, todo, self.now));
        self.hold(todo).or_else(blank).or_else(dependency)
    }

    /// Returns true if a todo is blocked only by other todos, and these only by todos or agents: none of them is on
    /// hold or without content. Most todos of a large plan wait in this way, and this can be decided without reading
    /// texts.
    fn waits_only_for_work(self, todo: &'a Todo) -> bool {
        let is_work = |(dep, target): (&Dep, Option<&Todo>)| {
            matches!(dep, Dep::On(_))
                && target.is_some_and(|target| self.state(target).open() && target.hold.is_none() && !is_empty(target))
        };
        let mut unmet = self.unmet(todo).peekable();
        todo.derived.unmet > 0 && todo.hold.is_none() && unmet.peek().is_some() && unmet.all(is_work)
    }

    /// Returns everything that directly blocks an open todo: unmet dependencies in their order, then reasons in the
    /// todo itself. Empty for todos that can be started, that the reader has in progress, or that are closed.
    pub fn reasons(self, todo: &'a Todo) -> Vec<WaitReason> {
        if !self.is_open(todo) {
            return Vec::new();
        }
        if todo.status_at(self.now) == Status::Pending {
            return self.before_start(todo);
        }
        let mut out = self.dependencies(todo);
        if self.is_elsewhere(todo) {
            out.push(self.claim(todo));
        } else if todo.flags.reported {
            out.push(WaitReason::own(Cause::Reported, todo, self.now));
        }
        out
    }

    /// Returns everything that blocks the start of a todo, whatever its status.
    pub fn before_start(self, todo: &'a Todo) -> Vec<WaitReason> {
        let mut out = self.dependencies(todo);
        out.extend(self.own_reason(todo).filter(|own| out.is_empty() || own.cause.is_hold()));
        out
    }

    fn dependencies(self, todo: &'a Todo) -> Vec<WaitReason> {
        match todo.derived.unmet {
            0 => Vec::new(),
            _ => self.unmet(todo).map(|(dep, target)| self.dependency(todo, dep, target)).collect(),
        }
    }

    /// The status that users and models see of a todo. A slice in which the dependencies are not loaded shows what is
    /// stuck as waiting.
    pub fn shown(self, todo: &'a Todo) -> ShownStatus {
        if !todo.is_live() {
            return ShownStatus::Archived;
        }
        let stuck = || self.unmet(todo).any(|(_, target)| target.is_some_and(|t| self.state(t) == NodeState::Dropped));
        match todo.status_at(self.now) {
            Status::Completed => ShownStatus::Completed,
            Status::Cancelled => ShownStatus::Cancelled,
            Status::Failed => ShownStatus::Failed,
            Status::InProgress if todo.flags.reported => ShownStatus::Reported,
            Status::InProgress if todo.derived.unmet > 0 => ShownStatus::Stalled,
            Status::InProgress => ShownStatus::InProgress,
            Status::Pending if todo.is_parked() => ShownStatus::Parked,
            Status::Pending if todo.derived.unmet > 0 && stuck() => ShownStatus::Stuck,
            Status::Pending if todo.derived.unmet > 0 => ShownStatus::Waiting,
            Status::Pending if todo.hold_at(self.now).is_some() => ShownStatus::Held,
            Status::Pending if is_empty(todo) => ShownStatus::Empty,
            Status::Pending if self.file_conflict(todo).is_some() => ShownStatus::Waiting,
            Status::Pending => ShownStatus::Ready,
        }
    }
}

/// Asks for what must be loaded before [`PlanReader`] can judge these todos: the dependencies of those that wait, and all work
/// in progress where their files or those of a dependency matter. What a dependency needs is known once it is loaded, so
/// ask until nothing is missing.
pub fn need<'a>(plan: &Plan, todos: impl IntoIterator<Item = &'a Todo>) -> Result<(), Need> {
    let mut missing = Footprint::default();
    let mut files = false;
    for todo in todos.into_iter().filter(|todo| todo.is_live() && todo.status.is_open()) {
        files |= !todo.files.is_empty();
        if todo.derived.unmet > 0 {
            for uid in todo.depends_on.iter().filter_map(Dep::target) {
                match plan.get(uid) {
                    Some(dependency) => files |= dependency.status.is_open() && !dependency.files.is_empty(),
                    None => drop(missing.todos.insert(uid)),
                }
            }
        }
    }
    missing.all_running = files && plan.all_running().is_err();
    if missing == Footprint::default() { Ok(()) } else { Err(Box::new(missing)) }
}

/// The first [`LISTED`] of something, and how many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CappedList<T> {
    /// The first of them.
    pub list: Vec<T>,
    /// All of them.
    pub total: usize,
}

impl<T> Default for CappedList<T> {
    fn default() -> Self {
        Self { list: Vec::new(), total: 0 }
    }
}

impl<T> CappedList<T> {
    fn push(&mut self, item: T) {
        self.total += 1;
        if self.list.len() < LISTED {
            self.list.push(item);
        }
    }
}
