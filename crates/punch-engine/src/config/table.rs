//! The table of settings. A new one is a row here; parsing, checking, `config show` and the documentation follow.

use std::time::Duration;

use punch_core::drive::{KeepGoing, Reminding};
use punch_core::{
    CancelledDep, DepOnRunning, InProgressLimit, MissingDep, OnCycle, OnRemove, Policy, StartGate, VerifyMode,
};

use super::{
    Authority, Batches, Color, ConfigError, Key, Permission, Plans, Shown, Source, Sourced, Subagents,
    load::{LocatedValue, resolve},
    scalar::Scalar,
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
            $($(#[doc = $doc])+ pub $field: Sourced<$type>,)*
        }

        impl Settings {
            /// Asks for every key; what is not found has its default.
            pub(super) fn resolve(find: &dyn Fn(&str) -> Option<LocatedValue>) -> Result<Self, ConfigError> {
                Ok(Self { $($field: resolve::<$type>($name, $default, $range, find)?,)* })
            }

            /// One line per key.
            pub(super) fn rows(&self) -> Vec<Shown> {
                vec![$(Shown {
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
const CHECK: Authority = Authority::Approval { rank: Some(strictness) };

/// What `done` needs, from little to much.
fn strictness(given: &str) -> Option<usize> {
    let mode = <VerifyMode as Setting>::read(&Scalar::Loose(given.to_owned()), ANY)?;
    VerifyMode::ALL.iter().position(|known| *known == mode)
}

const SECOND: i64 = 1_000;
const DAY: i64 = 86_400 * SECOND;

settings! {
    /// Who acts when a command names no owner.
    owner: Option<String> = "owner", "", (1, 200), None, ANYONE;
    /// The plan that commands mean when they name none.
    plan: Option<String> = "plan", "", (1, 200), None, ANYONE;
    /// Whether the conversations of agents share the plan of the project, or each gets a plan of its own.
    plans: Plans = "plans", "shared", ANY, None, ANYONE;
    /// How long an owner is believed to be alive after its last sign.
    lease: Duration = "lease", "15m", (SECOND / 10, 30 * DAY), None, ANYONE;
    /// Keep a copy of the store in the user's state folder, written at most hourly.
    store_copy: bool = "store.copy", "true", ANY, None, ANYONE;
    /// Seconds after which views hide closed todos; -1 never, 0 at once. Nothing is deleted.
    view_clear_delay: i64 = "view.clear_delay", "60", (-1, 366 * DAY / SECOND), None, ANYONE;
    /// Draw with ASCII characters only.
    view_ascii: bool = "view.ascii", "false", ANY, None, ANYONE;
    /// When to use colours.
    view_color: Color = "view.color", "auto", ANY, None, ANYONE;
    /// Characters that the content of a todo may have.
    limits_content: usize = "limits.content", "500", (1, 100_000), None, ANYONE;
    /// Characters that a description or note may have.
    limits_long: usize = "limits.long", "8000", (1, 1_000_000), None, ANYONE;
    /// Open todos that a plan may have when written through MCP or HTTP.
    limits_open_todos: usize = "limits.open_todos", "10000", (1, 1_000_000), None, ANYONE;
    /// Bytes that one request over MCP or HTTP may have.
    limits_request_bytes: usize = "limits.request_bytes", "1048576", (1_024, 1 << 30), None, ANYONE;
    /// May a todo start before its dependencies are done?
    policy_start_gate: StartGate = "policy.start_gate", "strict", ANY, None, ANYONE;
    /// How many todos an owner may have in progress.
    policy_in_progress: InProgressLimit = "policy.in_progress", "one", ANY, None, ANYONE;
    /// What happens to a dependency that closes a cycle.
    policy_on_cycle: OnCycle = "policy.on_cycle", "refuse", ANY, None, ANYONE;
    /// What happens to a dependency on an id nobody has.
    policy_missing_dep: MissingDep = "policy.missing_dep", "refuse", ANY, None, ANYONE;
    /// What a cancelled or failed dependency means.
    policy_cancelled_dep: CancelledDep = "policy.cancelled_dep", "block", ANY, None, ANYONE;
    /// What happens to those that depend on a removed todo.
    policy_on_remove: OnRemove = "policy.on_remove", "detach", ANY, None, ANYONE;
    /// What happens to a running todo that gets a new unmet dependency.
    policy_dep_on_running: DepOnRunning = "policy.dep_on_running", "keep", ANY, None, ANYONE;
    /// What `done` needs: `trust` nothing, `claim` nothing but stores evidence, `command` that the verify command passes, or evidence where a todo has no command.
    policy_verify: VerifyMode = "policy.verify", "claim", ANY, None, CHECK;
    /// How long a verify command may take.
    verify_timeout: Duration = "verify.timeout", "10m", (SECOND / 10, 7 * DAY), None, ANYONE;
    /// After a restore, open completed todos again that git does not vouch for; else they are marked stale.
    checkpoint_reopen: bool = "checkpoint.reopen", "true", ANY, None, ANYONE;
    /// Make a checkpoint when a batch of work has ended: one that was given to somebody, or parallel groups too.
    checkpoint_batches: Batches = "checkpoint.batches", "given", ANY, None, ANYONE;
    /// How eagerly work is handed to subagents.
    subagents: Subagents = "subagents", "conservative", ANY, None, ANYONE;
    /// Offer the tools to agents at all.
    tools_enabled: bool = "tools.enabled", "true", ANY, None, ANYONE;
    /// Let an agent that stops early go on while work is left.
    keep_going_enabled: bool = "keep_going.enabled", "true", ANY, Some("PUNCH_KEEP_GOING"), USER;
    /// Continuations after one message of the user without progress in between.
    keep_going_max_continuations: u32 =
        "keep_going.max_continuations", "10", (0, 1_000), Some("PUNCH_MAX_CONTINUATIONS"), USER;
    /// Milliseconds for which a decision at an unchanged revision is reused.
    keep_going_check_interval_ms: u64 = "keep_going.check_interval_ms", "0", (0, 3_600_000), None, USER;
    /// The share of the context beyond which nothing is continued.
    keep_going_token_limit: f64 = "keep_going.token_limit", "0.9", (0, 1), None, USER;
    /// Continuations in a row that may bring no change of a status.
    keep_going_no_progress: u32 = "keep_going.no_progress", "3", (1, 1_000), None, USER;
    /// Continuations after one message of the user, however much progress there is.
    keep_going_absolute_max: u32 = "keep_going.absolute_max", "100", (0, 10_000), None, USER;
    /// Minutes after a message of the user in which agents are kept going; 0 for no limit.
    keep_going_max_minutes: u64 = "keep_going.max_minutes", "120", (0, 10_080), None, USER;
    /// Leave todos of priority 5 open when nothing else is left.
    keep_going_skip_optional: bool = "keep_going.skip_optional", "false", ANY, None, USER;
    /// Keep subagents going too.
    keep_going_subagents: bool = "keep_going.subagents", "false", ANY, None, USER;
    /// How many agents `punch run` lets work at once.
    run_agents: u32 = "run.agents", "1", (1, 64), None, USER;
    /// The agent that `punch run` starts: `exec:COMMAND`, `claude`, `codex` or `acp:COMMAND`.
    run_agent: Option<String> = "run.agent", "", (1, 2_000), None, COMMAND;
    /// Dollars that a run may cost; 0 for no limit.
    run_max_cost: f64 = "run.max_cost", "0", (0, 1_000_000), None, USER;
    /// Tokens that a run may take; 0 for no limit.
    run_max_tokens: u64 = "run.max_tokens", "0", (0, 1 << 50), None, USER;
    /// How long a run may take, beginning anew whenever it is taken up; 0s for no limit.
    run_max_time: Duration = "run.max_time", "0s", (0, 30 * DAY), None, USER;
    /// Turns that agents may take in a run; 0 for no limit.
    run_max_turns: u64 = "run.max_turns", "0", (0, 1 << 30), None, USER;
    /// Dollars that a run may spend on one todo; 0 for no limit.
    run_todo_cost: f64 = "run.todo_cost", "0", (0, 1_000_000), None, USER;
    /// Tokens that a run may spend on one todo; 0 for no limit.
    run_todo_tokens: u64 = "run.todo_tokens", "0", (0, 1 << 50), None, USER;
    /// How long agents of a run may work on one todo; 0s for no limit.
    run_todo_time: Duration = "run.todo_time", "0s", (0, 30 * DAY), None, USER;
    /// Turns that agents may take on one todo in a run; 0 for no limit.
    run_todo_turns: u64 = "run.todo_turns", "0", (0, 1 << 30), None, USER;
    /// An agent that gives no sign of life for so long is ended.
    run_idle: Duration = "run.idle", "30m", (SECOND / 10, 7 * DAY), None, USER;
    /// How long an agent that is asked to end has to do so.
    run_grace: Duration = "run.grace", "5s", (0, DAY), None, USER;
    /// How long an agent pauses after a failed turn; twice as long after every further one in a row, up to 5m.
    run_backoff: Duration = "run.backoff", "2s", (0, 5 * 60 * SECOND), None, USER;
    /// Tokens that the context of an agent holds; a conversation takes further todos within 70 % of it.
    run_context: u64 = "run.context", "200000", (1_000, 100_000_000), None, USER;
    /// What an agent of a run gets that asks for permission: somebody is asked, or it is allowed, or denied.
    run_permission: Permission = "run.permission", "ask", ANY, None, COMMAND;
    /// What agents of a run may do without a question, separated by commas: `TOOL` or `TOOL(USE)`, with `*` for any text.
    run_allow: Option<String> = "run.allow", "", (1, 2_000), None, COMMAND;
    /// Give every agent of a run a git work tree of its own.
    run_worktrees: bool = "run.worktrees", "false", ANY, None, USER;
    /// Remind agents of their list now and then.
    reminders_enabled: bool = "reminders.enabled", "true", ANY, None, ANYONE;
    /// Tokens that all reminders of one session may cost.
    reminders_tokens: u64 = "reminders.tokens", "600", (0, 100_000), None, ANYONE;
}

impl Settings {
    /// What was chosen about keeping agents going.
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

    /// What was chosen about reminders.
    pub fn reminding(&self) -> Reminding {
        Reminding { enabled: self.reminders_enabled.value, tokens: self.reminders_tokens.value }
    }

    /// How long a claim lasts unless renewed, in milliseconds. Every claim and renewal reads the setting here.
    pub fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease.value.as_millis()).unwrap_or(i64::MAX)
    }

    /// `base` with every policy that somebody set: a default never overrides what a plan or dialect chose.
    pub fn policy_over(&self, base: Policy) -> Policy {
        fn over<T: Copy>(base: T, set: &Sourced<T>) -> T {
            if set.source == Source::Default { base } else { set.value }
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defaults() -> Settings {
        Settings::resolve(&|_| None).unwrap()
    }

    #[test]
    fn every_default_is_a_value_of_its_own_row() {
        for row in defaults().rows() {
            assert_eq!(row.source, Source::Default);
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
        };
        assert_eq!(everything, Policy::default());
    }

    #[test]
    fn only_policies_that_somebody_set_override() {
        let base = Policy { start_gate: StartGate::Warn, on_cycle: OnCycle::Suspend, ..Policy::default() };
        let mut set = defaults();
        assert_eq!(set.policy_over(base), base);
        set.policy_on_cycle = Sourced { value: OnCycle::Refuse, source: Source::Flag };
        assert_eq!(set.policy_over(base), Policy { on_cycle: OnCycle::Refuse, ..base });
    }
}
