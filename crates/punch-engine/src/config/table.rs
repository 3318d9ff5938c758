//! The table of settings. A new setting is a row here; parsing, checking, `config show` and `docs/config.md` follow from it.

use std::time::Duration;

use punch_core::drive::{KeepGoing, Reminding};
use punch_core::{
    CancelledDep, DepOnRunning, InProgressLimit, MissingDep, OnCycle, OnRemove, Policy, StartGate, Verify, VerifyMode,
};

use super::{
    Authority, Batches, Color, ConfigError, IgnoredSetting, Key, PermissionDefault, Plans, SettingSource, SettingValue,
    ShownSetting, Subagents, VerifyPlace,
    load::{LocatedValue, resolve},
    scalar::WrittenValue,
    setting::Setting,
};

macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $field:ident: $type:ty = $name:literal, $default:literal, $range:expr, $env:expr, $authority:expr;)*) => {
        /// Every key, in the order in which they are shown.
        pub const KEYS: &[Key] = &[$(Key {
            name: $name,
            doc: concat!($($doc),+),
            default: $default,
            authority: $authority,
            short_env: $env,
            expected: || <$type as Setting>::expected($range),
            check: |given| <$type as Setting>::read(given, $range).map(|value| value.toml()),
        }),*];

        /// Every setting with where it comes from.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            $($(#[doc = $doc])+ pub $field: SettingValue<$type>,)*
            /// Settings of some source that have no effect, because the user has not approved them.
            pub ignored: Vec<IgnoredSetting>,
        }

        impl Settings {
            /// Asks for every key; what is not found has its default.
            pub(super) fn resolve(
                find: &dyn Fn(&str) -> Option<LocatedValue>,
                ignored: &[IgnoredSetting],
            ) -> Result<Self, ConfigError> {
                // Filled in place: a literal of dozens of fallible fields compiles into drops of all the earlier ones.
                let mut out = Self { $($field: SettingValue::unset(),)* ignored: ignored.to_vec() };
                $(resolve::<$type>(&mut out.$field, $name, $default, $range, find)?;)*
                Ok(out)
            }

            /// Every setting as a file would have it, in the order of the table.
            pub fn rows(&self) -> Vec<ShownSetting> {
                vec![$(ShownSetting {
                    key: $name.into(),
                    value: self.$field.value.toml(),
                    source: self.$field.source.clone(),
                }),*]
            }
        }
    };
}

/// For types that need no range.
const ANY: (i64, i64) = (i64::MIN, i64::MAX);

const ANYONE: Authority = Authority::Anyone;
const USER: Authority = Authority::User;
const COMMAND: Authority = Authority::Approval { rank: None };
const OWN_FILE: Authority = Authority::OwnFile;
const CHECK: Authority = Authority::Approval { rank: Some(strictness) };
const LIMIT: Authority = Authority::Approval { rank: Some(tightness) };

/// What `done` needs, from little to much.
fn strictness(given: &str) -> Option<f64> {
    let mode = <VerifyMode as Setting>::read(&WrittenValue::Loose(given.to_owned()), ANY)?;
    VerifyMode::ALL.iter().zip(0_u8..).find(|(known, _)| **known == mode).map(|(_, rank)| rank.into())
}

/// How tight a limit of a run is; `0` means that there is none.
fn tightness(given: &str) -> Option<f64> {
    let given = WrittenValue::Loose(given.to_owned());
    let number = <f64 as Setting>::read(&given, ANY);
    let limit = number.or_else(|| Some(<Duration as Setting>::read(&given, ANY)?.as_secs_f64()))?;
    Some(if limit > 0.0 { -limit } else { f64::NEG_INFINITY })
}

const SECOND: i64 = 1_000;
const DAY: i64 = 86_400 * SECOND;

settings! {
    /// Who you act as when a command has no `--owner`.
    owner: Option<String> = "owner", "", (1, 200), None, ANYONE;
    /// The plan to use when a command has no `--plan`.
    plan: Option<String> = "plan", "", (1, 200), None, ANYONE;
    /// Which plan agents work on: `shared`, the plan of the project, for all of them; `session`, a separate plan for each conversation.
    plans: Plans = "plans", "shared", ANY, None, ANYONE;
    /// How long an agent's claim lasts unless it is renewed. Any activity of the agent renews it; afterwards others may take the todo.
    lease: Duration = "lease", "15m", (SECOND / 10, 30 * DAY), None, ANYONE;
    /// Keep a copy of the store in your state folder, updated at most once an hour.
    store_copy: bool = "store.copy", "true", ANY, None, ANYONE;
    /// How many seconds `punch list --tree`, `punch watch` and views of the library keep showing closed todos: `0` not at all, `-1` always. Nothing is deleted.
    view_clear_delay: i64 = "view.clear_delay", "60", (-1, 366 * DAY / SECOND), None, ANYONE;
    /// Draw with ASCII characters only.
    view_ascii: bool = "view.ascii", "false", ANY, None, ANYONE;
    /// When to use color: `auto`, on a terminal unless `NO_COLOR` is set; `always`; `never`.
    view_color: Color = "view.color", "auto", ANY, None, ANYONE;
    /// Longest text of a todo, in characters.
    limits_content: usize = "limits.content", "500", (1, 100_000), None, ANYONE;
    /// Longest description or note, in characters.
    limits_long: usize = "limits.long", "8000", (1, 1_000_000), None, ANYONE;
    /// Open todos a plan may have when agents add to it over MCP or HTTP. The command line has no such limit.
    limits_open_todos: usize = "limits.open_todos", "10000", (1, 1_000_000), None, ANYONE;
    /// Largest request over MCP or HTTP, in bytes.
    limits_request_bytes: usize = "limits.request_bytes", "1048576", (1_024, 1 << 30), None, ANYONE;
    /// Starting a todo whose dependencies are not done: `strict` refuses; `at_end` refuses unless the same call completes them; `warn` allows it with a warning.
    policy_start_gate: StartGate = "policy.start_gate", "strict", ANY, None, ANYONE;
    /// Todos that one owner may have in progress: `one` refuses a second; `any` allows any number.
    policy_in_progress: InProgressLimit = "policy.in_progress", "one", ANY, None, ANYONE;
    /// A dependency that would close a cycle: `refuse` rejects the change and shows the path; `suspend` keeps the dependency, and the todos in the cycle never become ready.
    policy_on_cycle: OnCycle = "policy.on_cycle", "refuse", ANY, None, ANYONE;
    /// A dependency on an unknown id: `refuse` rejects the change; `dangle` keeps it, and the todo waits until the id exists.
    policy_missing_dep: MissingDep = "policy.missing_dep", "refuse", ANY, None, ANYONE;
    /// A dependency that was cancelled or failed: `block` keeps the todo blocked and reports it as stuck; `satisfy` counts it as done; `cascade` cancels the todos that depend on it.
    policy_cancelled_dep: CancelledDep = "policy.cancelled_dep", "block", ANY, None, ANYONE;
    /// Todos that depend on a removed todo: `detach` removes the dependency; `dangle` keeps it, and they wait until the id exists again.
    policy_on_remove: OnRemove = "policy.on_remove", "detach", ANY, None, ANYONE;
    /// A todo in progress that gets a new unfinished dependency: `keep` leaves it in progress and reports it as stalled; `demote` sets it back to pending.
    policy_dep_on_running: DepOnRunning = "policy.dep_on_running", "keep", ANY, None, ANYONE;
    /// What `done` requires: `trust` nothing; `claim` nothing, but evidence is stored if given; `evidence` no failed check, and agents are asked for a check that passes; `command` a passing check, or evidence in words if the todo has no check command.
    policy_verify: VerifyMode = "policy.verify", "claim", ANY, None, CHECK;
    /// Commands that count as checks when an agent runs them, besides those that Punchlist knows: beginnings of command lines, separated by commas, such as `just ci, ./scripts/check.sh`.
    verify_checks: Option<String> = "verify.checks", "", (1, 2_000), None, COMMAND;
    /// How long a check command may take.
    verify_timeout: Duration = "verify.timeout", "10m", (SECOND / 10, 7 * DAY), None, ANYONE;
    /// Command that checks the whole plan, such as `make test`. It runs when every todo is done, and on the result branch of a run. While it fails, the plan is not finished. On the command line it may also be called `plan.verify`.
    verify_plan: Option<String> = "verify.plan", "", (1, 2_000), None, COMMAND;
    /// Where `punch worker` checks todos: `worker` on the machine that did the work, and again where it is merged if the result has moved on; `coordinator` only where it is merged.
    verify_where: VerifyPlace = "verify.where", "worker", ANY, None, USER;
    /// After a restore, reopen completed todos whose work is no longer in git: `true` reopens them; `false` only marks them as stale.
    checkpoint_reopen: bool = "checkpoint.reopen", "true", ANY, None, ANYONE;
    /// Make a checkpoint when a batch of work is finished: `off` never; `given` after a batch handed out by `punch next --budget` or the view `schedule`; `groups` after parallel groups too.
    checkpoint_batches: Batches = "checkpoint.batches", "given", ANY, None, ANYONE;
    /// Handing todos to subagents: `off` refuses it; `conservative` allows it; `aggressive` asks agents to hand out ready todos in parallel.
    subagents: Subagents = "subagents", "conservative", ANY, None, ANYONE;
    /// Offer Punchlist's tools to agents. `false` hides them.
    tools_enabled: bool = "tools.enabled", "true", ANY, None, ANYONE;
    /// Auto-continue: send an agent that stops early back to work while todos can be worked on.
    keep_going_enabled: bool = "keep_going.enabled", "true", ANY, Some("PUNCH_KEEP_GOING"), USER;
    /// How many continuations without progress are allowed after each of your messages.
    keep_going_max_continuations: u32 =
        "keep_going.max_continuations", "10", (0, 1_000), Some("PUNCH_MAX_CONTINUATIONS"), USER;
    /// Reuse a decision for this many milliseconds while the plan is unchanged.
    keep_going_check_interval_ms: u64 = "keep_going.check_interval_ms", "0", (0, 3_600_000), None, USER;
    /// Share of the context in use (0 to 1) above which agents are no longer continued.
    keep_going_token_limit: f64 = "keep_going.token_limit", "0.9", (0, 1), None, USER;
    /// Continuations in a row without a status change and without any tool use before the agent is allowed to stop.
    keep_going_no_progress: u32 = "keep_going.no_progress", "3", (1, 1_000), None, USER;
    /// How many continuations are allowed after each of your messages, with or without progress.
    keep_going_absolute_max: u32 = "keep_going.absolute_max", "100", (0, 10_000), None, USER;
    /// Minutes after your last message during which agents are continued; `0` for no limit.
    keep_going_max_minutes: u64 = "keep_going.max_minutes", "120", (0, 10_080), None, USER;
    /// Let agents stop when only todos of priority 5 are left.
    keep_going_skip_optional: bool = "keep_going.skip_optional", "false", ANY, None, USER;
    /// Continue subagents too.
    keep_going_subagents: bool = "keep_going.subagents", "false", ANY, None, USER;
    /// How many agents `punch run` uses at the same time.
    run_agents: u32 = "run.agents", "1", (1, 64), None, USER;
    /// The agent `punch run` starts: `claude`, `codex`, `exec:COMMAND` or `acp:COMMAND`.
    run_agent: Option<String> = "run.agent", "", (1, 2_000), None, COMMAND;
    /// How often a run tries a todo before the todo counts as failed. Usage limits, agents that do not start and todos that were taken away do not count.
    run_attempts: u32 = "run.attempts", "3", (1, 100), None, USER;
    /// Dollars a run may cost; `0` for no limit.
    run_max_cost: f64 = "run.max_cost", "0", (0, 1_000_000), None, LIMIT;
    /// Tokens a run may use; `0` for no limit.
    run_max_tokens: u64 = "run.max_tokens", "0", (0, 1 << 50), None, LIMIT;
    /// How long a run may take; the clock restarts when the run is resumed. `0s` for no limit.
    run_max_time: Duration = "run.max_time", "0s", (0, 30 * DAY), None, LIMIT;
    /// Turns agents may take in a run; `0` for no limit.
    run_max_turns: u64 = "run.max_turns", "0", (0, 1 << 30), None, LIMIT;
    /// Dollars a run may spend on one todo; `0` for no limit.
    run_todo_cost: f64 = "run.todo_cost", "0", (0, 1_000_000), None, LIMIT;
    /// Tokens a run may spend on one todo; `0` for no limit.
    run_todo_tokens: u64 = "run.todo_tokens", "0", (0, 1 << 50), None, LIMIT;
    /// How long a run may work on one todo; `0s` for no limit.
    run_todo_time: Duration = "run.todo_time", "0s", (0, 30 * DAY), None, LIMIT;
    /// Turns a run may take for one todo; `0` for no limit.
    run_todo_turns: u64 = "run.todo_turns", "0", (0, 1 << 30), None, LIMIT;
    /// End an agent that has shown no activity for this long.
    run_idle: Duration = "run.idle", "30m", (SECOND / 10, 7 * DAY), None, USER;
    /// How long an agent that was asked to end may take before it is killed.
    run_grace: Duration = "run.grace", "5s", (0, DAY), None, USER;
    /// Pause after a failed turn. It doubles with every further failure in a row, up to 5m.
    run_backoff: Duration = "run.backoff", "2s", (0, 5 * 60 * SECOND), None, USER;
    /// How long a run waits for an agent that has reached its usage limit. If the limit is reset later than that, the agent gets no more todos, and without other agents the run ends. `0s` never waits.
    run_limit_wait: Duration = "run.limit_wait", "12h", (0, 30 * DAY), None, USER;
    /// Pause before retrying an agent that reached its usage limit without saying when it resets.
    run_limit_pause: Duration = "run.limit_pause", "15m", (SECOND, 7 * DAY), None, USER;
    /// Exit code with which an `exec:` agent reports that its usage limit is reached; `0` for none.
    run_limit_exit: u32 = "run.limit_exit", "75", (0, 255), None, USER;
    /// Text that an `exec:` agent prints before it fails if its usage limit is reached. The messages of known agents count too.
    run_limit_text: Option<String> = "run.limit_text", "", (1, 200), None, USER;
    /// The context window of each agent, in tokens. A conversation that has used 70% of it gets no further todos.
    run_context: u64 = "run.context", "200000", (1_000, 100_000_000), None, USER;
    /// How to answer permission requests of agents in a run: `ask` asks you and waits for the answer; `allow` allows everything; `deny` refuses everything.
    run_permission: PermissionDefault = "run.permission", "ask", ANY, None, COMMAND;
    /// What agents in a run may do without asking: rules separated by commas, each a tool with an optional pattern, such as `Read` or `Bash(git *)`.
    run_allow: Option<String> = "run.allow", "", (1, 2_000), None, COMMAND;
    /// How long an agent's question waits for your answer before the agent is ended and the todo is put on hold.
    run_ask_wait: Duration = "run.ask_wait", "30m", (0, 7 * DAY), None, USER;
    /// Accept answers to agents' questions from another machine that shares the store. Counts only in your own settings file.
    run_remote_answers: bool = "run.remote_answers", "false", ANY, None, OWN_FILE;
    /// Give every todo of a run its own git worktree.
    run_worktrees: bool = "run.worktrees", "false", ANY, None, USER;
    /// Command that prepares the worktree of a todo before its agent starts, such as `npm ci`. It runs in the worktree; if it fails, no attempt is counted.
    run_setup: Option<String> = "run.setup", "", (1, 2_000), None, COMMAND;
    /// Files ignored by git that are copied into the worktree of a todo: globs separated by commas, such as `.env, config/*.local`. Links are not copied.
    run_copy: Option<String> = "run.copy", "", (1, 2_000), None, COMMAND;
    /// The git remote through which the workers of a fleet exchange their work.
    worker_remote: Option<String> = "worker.remote", "origin", (1, 200), None, USER;
    /// How long a worker counts as alive after its last heartbeat. Its agents are ended after two thirds of this time without contact to the store; afterwards other workers take over.
    worker_lease: Duration = "worker.lease", "30s", (2 * SECOND, 60 * SECOND), None, USER;
    /// Let workers on this machine coordinate plans: merge, check and complete what all workers hand in. `false` leaves that to workers on other machines.
    worker_coordinate: bool = "worker.coordinate", "true", ANY, None, USER;
    /// Command to run when something enters the inbox, in a run or through an agent, and when a run ends. It gets the text on standard input, such as `mail -s punch me`.
    notify_command: Option<String> = "notify.command", "", (1, 2_000), None, COMMAND;
    /// Remind agents of the todo list from time to time.
    reminders_enabled: bool = "reminders.enabled", "true", ANY, None, ANYONE;
    /// Tokens that all reminders of one session may use together.
    reminders_tokens: u64 = "reminders.tokens", "600", (0, 100_000), None, ANYONE;
    /// Name `punch` commands in texts for agents. Switch it off for an agent whose model has no shell.
    reminders_shell: bool = "reminders.shell", "true", ANY, None, ANYONE;
}

impl Settings {
    /// The settings of auto-continue.
    pub fn keep_going(&self) -> KeepGoing {
        KeepGoing {
            enabled: self.keep_going_enabled.value,
            subagents: self.keep_going_subagents.value,
            max_continuations: self.keep_going_max_continuations.value,
            absolute: self.keep_going_absolute_max.value,
            no_progress: self.keep_going_no_progress.value,
            max_minutes: self.keep_going_max_minutes.value,
            token_limit: self.keep_going_token_limit.value,
            skip_optional: self.keep_going_skip_optional.value,
        }
    }

    /// The user's own check commands.
    pub fn own_checks(&self) -> Vec<String> {
        let given = self.verify_checks.value.as_deref().unwrap_or_default();
        given.split(',').map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    }

    /// The settings of reminders.
    pub fn reminding(&self) -> Reminding {
        Reminding { enabled: self.reminders_enabled.value, tokens: self.reminders_tokens.value }
    }

    /// The command that checks a whole plan.
    pub fn plan_check(&self) -> Option<Verify> {
        self.verify_plan.value.clone().map(Verify::Shell)
    }

    /// How long a claim lasts unless renewed, in milliseconds. Every claim and renewal reads the setting here.
    pub fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease.value.as_millis()).unwrap_or(i64::MAX)
    }

    /// Returns `base` with every policy that is set explicitly: a default never overrides what a plan or dialect chose.
    pub fn policy_over(&self, base: Policy) -> Policy {
        fn over<T: Copy>(base: T, set: &SettingValue<T>) -> T {
            if set.source == SettingSource::Default { base } else { set.value }
        }
        Policy {
            start_gate: over(base.start_gate, &self.policy_start_gate),
            in_progress: over(base.in_progress, &self.policy_in_progress),
            on_cycle: over(base.on_cycle, &self.policy_on_cycle),
            missing_dep: over(base.missing_dep, &self.policy_missing_dep),
            cancelled_dep: over(base.cancelled_dep, &self.policy_cancelled_dep),
            on_remove: over(base.on_remove, &self.policy_on_remove),
            dep_on_running: over(base.dep_on_running, &self.policy_dep_on_running),
            verify: over(base.verify, &self.policy_verify),
            missing_evidence: base.missing_evidence,
            attempts: base.attempts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defaults() -> Settings {
        Settings::resolve(&|_| None, &[]).unwrap()
    }

    #[test]
    fn every_default_is_a_value_of_its_own_row() {
        for row in defaults().rows() {
            assert_eq!(row.source, SettingSource::Default);
        }
        assert_eq!(defaults().rows().len(), KEYS.len());
    }

    #[test]
    fn default_policies_are_those_of_the_core() {
        let set = defaults();
        let everything = Policy {
            start_gate: set.policy_start_gate.value,
            in_progress: set.policy_in_progress.value,
            on_cycle: set.policy_on_cycle.value,
            missing_dep: set.policy_missing_dep.value,
            cancelled_dep: set.policy_cancelled_dep.value,
            on_remove: set.policy_on_remove.value,
            dep_on_running: set.policy_dep_on_running.value,
            verify: set.policy_verify.value,
            missing_evidence: punch_core::MissingEvidence::Mark,
            attempts: punch_core::Attempts::default(),
        };
        assert_eq!(everything, Policy::default());
    }

    #[test]
    fn only_policies_that_are_set_override() {
        let base = Policy { start_gate: StartGate::Warn, on_cycle: OnCycle::Suspend, ..Policy::default() };
        let mut set = defaults();
        assert_eq!(set.policy_over(base), base);
        set.policy_on_cycle = SettingValue { value: OnCycle::Refuse, source: SettingSource::Flag };
        assert_eq!(set.policy_over(base), Policy { on_cycle: OnCycle::Refuse, ..base });
    }
}
