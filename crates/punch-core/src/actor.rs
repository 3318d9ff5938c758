//! Who requests a change. Rules ask an [`Actor`]; only this module knows the texts under which actors are stored: `by`
//! of events and notes, `owner` of todos.

use std::fmt;
use std::str::FromStr;

/// How a user signs who gives no name.
pub(crate) const USER: &str = "user";

/// How a runner signs: this and the number of its run.
const RUNNER: &str = "run ";

/// What the owner of a run's worker begins with.
const WORKER: &str = "run:";

/// The four kinds of actors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActorKind {
    /// Someone at the command line, in the terminal board or in a browser.
    User,
    /// A session of a coding agent.
    Agent,
    /// A session that reports on the todos it was given: assigned by an agent, or one of a run's.
    Worker,
    /// The runner, which gives todos to its workers and completes what they report.
    Runner,
}

/// Identifies one worker of a run; the text form is the owner of what the worker has in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerId {
    /// The run.
    pub run: u64,
    /// How often the run was resumed before, or how often a process took the name of the fleet's worker: what a crash left
    /// behind never has the name of something new.
    pub epoch: u32,
    /// The number of the worker in this epoch.
    pub number: u64,
    /// The worker of a fleet that started it; `None` for the runner that holds the plan.
    pub fleet: Option<String>,
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{WORKER}{}/{}.{}", self.run, self.epoch, self.number)?;
        self.fleet.as_ref().map_or(Ok(()), |name| write!(f, "@{name}"))
    }
}

impl FromStr for WorkerId {
    type Err = ();

    fn from_str(owner: &str) -> Result<Self, ()> {
        let read = || {
            let (run, place) = owner.strip_prefix(WORKER)?.split_once('/')?;
            let (epoch, place) = place.split_once('.')?;
            let (number, fleet) = place.split_once('@').map_or((place, None), |(number, name)| (number, Some(name)));
            let fleet = fleet.map(str::to_owned);
            Some(Self { run: run.parse().ok()?, epoch: epoch.parse().ok()?, number: number.parse().ok()?, fleet })
        };
        read().ok_or(())
    }
}

impl WorkerId {
    /// Reads the owner of a todo or session; `None` if it is not a worker of a run.
    pub fn of(owner: &str) -> Option<Self> {
        owner.parse().ok()
    }
}

/// Who asks for a change, with the name it signs under and the name under which it claims todos.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    kind: ActorKind,
    by: String,
    owner: Option<String>,
    claims: bool,
}

impl Actor {
    /// A user who gives no name. Claims of such a user have no owner and never expire.
    pub fn user() -> Self {
        Self { kind: ActorKind::User, by: USER.to_owned(), owner: None, claims: true }
    }

    /// A user who acts under a name (`--owner`). Other claims bind this user like everyone who claims by name. The name of a
    /// run's worker makes a worker: its agents have it in their environment.
    pub fn named_user(name: impl Into<String>) -> Self {
        let name = name.into();
        let kind = if WorkerId::of(&name).is_some() { ActorKind::Worker } else { ActorKind::User };
        Self { kind, by: name.clone(), owner: Some(name), claims: true }
    }

    /// A session of an agent. `by` is how it signs, usually the name of the program; `owner` identifies the session.
    pub fn agent(by: impl Into<String>, owner: impl Into<String>) -> Self {
        let owner = owner.into();
        let kind = if WorkerId::of(&owner).is_some() { ActorKind::Worker } else { ActorKind::Agent };
        Self { kind, by: by.into(), owner: Some(owner), claims: true }
    }

    /// A session that reports on what it was given.
    pub fn worker(by: impl Into<String>, owner: impl Into<String>) -> Self {
        Self { kind: ActorKind::Worker, by: by.into(), owner: Some(owner.into()), claims: true }
    }

    /// The runner of a run, acting on the claim of `owner`, one of its workers, where there is one.
    pub fn runner(run: u64, owner: Option<&str>) -> Self {
        Self { kind: ActorKind::Runner, by: format!("{RUNNER}{run}"), owner: owner.map(str::to_owned), claims: true }
    }

    /// Reads the texts under which actors are stored. A name that nothing else explains is an agent's.
    pub fn parse(by: &str, owner: Option<&str>) -> Self {
        let is_worker = |name: &str| WorkerId::of(name).is_some();
        let kind = match (by, owner) {
            (_, Some(owner)) if is_worker(owner) => ActorKind::Worker,
            (USER, _) => ActorKind::User,
            (by, _) if is_worker(by) => ActorKind::Worker,
            (by, _) if by.strip_prefix(RUNNER).is_some_and(|run| run.parse::<u64>().is_ok()) => ActorKind::Runner,
            _ => ActorKind::Agent,
        };
        Self { kind, by: by.to_owned(), owner: owner.map(str::to_owned), claims: true }
    }

    /// Returns this actor signing as `by`: what an import or a plan file brings is signed by its source.
    #[must_use]
    pub fn signing(mut self, by: &str) -> Self {
        by.clone_into(&mut self.by);
        self
    }

    /// Returns this actor as the author of a document: what the document says is in progress is not claimed.
    #[must_use]
    pub fn without_claims(mut self) -> Self {
        self.claims = false;
        self
    }

    /// Returns this actor claiming under another name.
    #[must_use]
    pub fn claiming_as(mut self, owner: &str) -> Self {
        self.owner = Some(owner.to_owned());
        self
    }

    /// The kind.
    pub const fn kind(&self) -> ActorKind {
        self.kind
    }

    /// How it signs events and notes.
    pub fn by(&self) -> &str {
        &self.by
    }

    /// The name under which it claims todos; `None` for a user who gives none.
    pub fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    /// Returns true for a user, with or without a name.
    pub fn is_user(&self) -> bool {
        self.kind == ActorKind::User
    }

    /// Returns the id if this is a worker of a run: what it calls done is only reported, and the runner completes it.
    pub fn worker_id(&self) -> Option<WorkerId> {
        match self.kind {
            ActorKind::Worker => WorkerId::of(self.owner.as_deref().unwrap_or(&self.by)),
            ActorKind::User | ActorKind::Agent | ActorKind::Runner => None,
        }
    }

    /// Returns the run of a runner or of one of its workers.
    pub fn run(&self) -> Option<u64> {
        match self.kind {
            ActorKind::Runner => self.by.strip_prefix(RUNNER)?.parse().ok(),
            ActorKind::Worker => self.worker_id().map(|id| id.run),
            ActorKind::User | ActorKind::Agent => None,
        }
    }

    /// Returns true if this actor may change todos that someone else has claimed: only a user who gives no name.
    pub fn overrides_claims(&self) -> bool {
        self.kind == ActorKind::User && self.owner.is_none()
    }

    /// Returns true if what this actor starts is claimed by it.
    pub fn claims(&self) -> bool {
        self.claims && (self.owner.is_some() || self.is_user())
    }

    /// Returns true if what this actor starts is under a lease: everything but the work of a user who gives no name.
    pub fn needs_lease(&self) -> bool {
        self.owner.is_some()
    }
}

/// The name of an owner for people: sessions are named by long numbers, of which the beginning is enough.
pub fn short_owner(owner: &str) -> &str {
    let group = |(group, length): (&str, usize)| group.len() == length && group.bytes().all(|b| b.is_ascii_hexdigit());
    let is_uuid = owner.len() == 36 && owner.split('-').zip([8, 4, 4, 4, 12]).filter(|pair| group(*pair)).count() == 5;
    if is_uuid { &owner[..8] } else { owner }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_of_sessions_are_shortened() {
        assert_eq!(short_owner("0b9f6a3c-1234-4c5d-8e9f-aabbccddeeff"), "0b9f6a3c");
        for name in
            ["ann", "", "run:1/0.2", "0b9f6a3c-1234-4c5d-8e9f-aabbccddeefg", "0b9f6a3c-1234-4c5d-8e9faabbccddeeff--"]
        {
            assert_eq!(short_owner(name), name);
        }
    }

    #[test]
    fn every_stored_form_of_an_author_is_read() {
        let kind = |by: &str, owner: Option<&str>| Actor::parse(by, owner).kind();
        let forms = [
            ("user", None, ActorKind::User),
            ("user", Some("ann"), ActorKind::User),
            ("claude", None, ActorKind::Agent),
            ("claude-code", Some("f0198e49-1"), ActorKind::Agent),
            ("codex", Some("mcp-42-1"), ActorKind::Agent),
            ("worker-1", Some("worker-1"), ActorKind::Agent),
            ("run 3", None, ActorKind::Runner),
            ("run 3", Some("run:3/1.1"), ActorKind::Worker),
            ("run:3/2.11", Some("run:3/2.11"), ActorKind::Worker),
            ("run:3/2.11", None, ActorKind::Worker),
            ("run away", None, ActorKind::Agent),
            ("run:x/1.1", None, ActorKind::Agent),
            ("file", None, ActorKind::Agent),
            ("", None, ActorKind::Agent),
        ];
        for (by, owner, expected) in forms {
            assert_eq!(kind(by, owner), expected, "{by} {owner:?}");
        }
    }

    #[test]
    fn constructors_and_parser_agree_on_the_stored_form() {
        let actors = [
            Actor::user(),
            Actor::agent("claude", "s-1"),
            Actor::agent("claude", "run:1/1.1"),
            Actor::named_user("run:1/1.1"),
            Actor::worker("claude", "run:1/1.1"),
            Actor::runner(4, None),
        ];
        for actor in actors {
            assert_eq!(Actor::parse(actor.by(), actor.owner()), actor);
        }
    }

    #[test]
    fn a_worker_id_is_read_from_its_own_text_only() {
        let id = WorkerId { run: 3, epoch: 2, number: 11, fleet: None };
        assert_eq!(id.to_string(), "run:3/2.11");
        assert_eq!(WorkerId::of("run:3/2.11"), Some(id.clone()));
        let of_fleet = WorkerId { fleet: Some("gpu-1".into()), ..id };
        assert_eq!(of_fleet.to_string(), "run:3/2.11@gpu-1");
        assert_eq!(WorkerId::of("run:3/2.11@gpu-1"), Some(of_fleet));
        for other in ["", "run", "run:", "run:3/2.@a", "run:3", "run:3/2", "run:x/1.1", "worker-1", "mcp-run:3/1.1"] {
            assert_eq!(WorkerId::of(other), None, "{other}");
        }
    }

    #[test]
    fn only_a_user_without_a_name_overrides_claims() {
        assert!(Actor::user().overrides_claims() && Actor::user().without_claims().overrides_claims());
        let others = [
            Actor::named_user("ann"),
            Actor::agent("claude", "s"),
            Actor::worker("claude", "s"),
            Actor::runner(1, Some("run:1/1.1")),
            Actor::parse("claude", None),
        ];
        assert!(others.iter().all(|actor| !actor.overrides_claims()));
    }
}
