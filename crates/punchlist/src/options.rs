//! Options for opening a session. All of them except the name of the agent have a default.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use punch_engine::call::Dialect;
use punch_engine::{Clock, IdMaker, Role, ToolGroup};

use crate::Wording;

/// What a session needs to know.
///
/// ```
/// use punchlist::{Dialect, Options};
///
/// let options = Options::new("my-agent")
///     .session("conversation-7") // the same name later continues the same list
///     .dialect(Dialect::Todowrite) // the calls that your model was trained on
///     .setting("keep_going.max_continuations", "5");
/// ```
#[derive(Default)]
pub struct Options {
    pub(crate) agent: String,
    pub(crate) session: Option<String>,
    pub(crate) subagent: Option<String>,
    pub(crate) plan: Option<String>,
    pub(crate) dialect: Option<Dialect>,
    pub(crate) groups: Vec<ToolGroup>,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) user_file: Option<PathBuf>,
    pub(crate) work_tree: Option<PathBuf>,
    pub(crate) consents: Option<PathBuf>,
    pub(crate) role: Option<Role>,
    pub(crate) clock: Option<Clock>,
    pub(crate) ids: Option<Arc<IdMaker>>,
    pub(crate) busy_timeout: Option<Duration>,
    pub(crate) shell: bool,
    pub(crate) wording: Option<Arc<dyn Wording>>,
}

impl Options {
    /// For an agent of this name. It signs what the agent changes, and settings of `agents.NAME` hold for it. The name
    /// `user` is the user's: agents learn of its changes as the user's edits.
    pub fn new(agent: impl Into<String>) -> Self {
        Self { agent: agent.into(), ..Self::default() }
    }

    /// The name of the conversation; without it a new one is made. Two agents at once need two names.
    #[must_use]
    pub fn session(mut self, name: impl Into<String>) -> Self {
        self.session = Some(name.into());
        self
    }

    /// A subagent inside the conversation. It may read, and report on what was assigned to it.
    #[must_use]
    pub fn subagent(mut self, name: impl Into<String>) -> Self {
        self.subagent = Some(name.into());
        self
    }

    /// Works on a plan that several conversations share, by its name; it is made if there is none. Without it every
    /// conversation has a plan of its own, except in the store of a project, where all work on the plan that `punch`
    /// uses.
    #[must_use]
    pub fn shared(mut self, name: impl Into<String>) -> Self {
        self.plan = Some(name.into());
        self
    }

    /// The dialect of the tools; native unless said otherwise.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// More tools: claims, checkpoints.
    #[must_use]
    pub fn group(mut self, group: ToolGroup) -> Self {
        self.groups.push(group);
        self
    }

    /// A setting by the name that it has in `docs/config.md`. It goes before every file.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// The user's `config.toml`. The project's own is read by [`crate::Session::open_project`].
    #[must_use]
    pub fn user_settings(mut self, file: impl Into<PathBuf>) -> Self {
        self.user_file = Some(file.into());
        self
    }

    /// The top of the code that is worked on: completions keep its commit, checkpoints its state.
    #[must_use]
    pub fn work_tree(mut self, folder: impl Into<PathBuf>) -> Self {
        self.work_tree = Some(folder.into());
        self
    }

    /// The user's state folder (`XDG_STATE_HOME`, or `.local/state` at home), in which `punch verify --allow` keeps
    /// what the user agreed to. With it, and a worktree, calls run the commands that prove todos; without it none ever
    /// runs. Settings of the project that need an approval count only with it.
    #[must_use]
    pub fn consents(mut self, state_home: impl Into<PathBuf>) -> Self {
        self.consents = Some(state_home.into());
        self
    }

    /// What the session may do, if its own record should not decide.
    #[must_use]
    pub fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    /// How long a write waits for other processes that use the same file: ten seconds unless said otherwise.
    #[must_use]
    pub fn busy_timeout(mut self, time: Duration) -> Self {
        self.busy_timeout = Some(time);
        self
    }

    /// The model has a shell in which the program `punch` works on this plan. Only then do texts name its commands.
    #[must_use]
    pub fn has_shell(mut self) -> Self {
        self.shell = true;
        self
    }

    /// Your own words for what the model reads besides answers.
    #[must_use]
    pub fn wording(mut self, wording: impl Wording + 'static) -> Self {
        self.wording = Some(Arc::new(wording));
        self
    }

    /// Another clock than the system's, in milliseconds since the epoch. The first session of a store brings it.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        self.clock = Some(Box::new(clock));
        self
    }

    /// Ids for todos that come without one, instead of `T-1`, `T-2` and so on. The function gets a number that no other todo
    /// of the plan has; an id that is taken refuses the write.
    ///
    /// ```
    /// # use punchlist::{Op, Options, Session};
    /// # fn main() -> Result<(), punchlist::Error> {
    /// let session = Session::in_memory(Options::new("my-agent").ids(|n| format!("task-{n}")))?;
    /// assert_eq!(session.apply(&[Op::add("Write the parser")])?.added, ["task-1"]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn ids(mut self, make: impl Fn(u64) -> String + Send + Sync + 'static) -> Self {
        self.ids = Some(Arc::new(IdMaker::new(make)));
        self
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { agent, session, subagent, plan, dialect, settings, .. } = self;
        let mut out = f.debug_struct("Options");
        out.field("agent", agent).field("session", session).field("subagent", subagent).field("plan", plan);
        out.field("dialect", dialect).field("settings", settings).finish_non_exhaustive()
    }
}
