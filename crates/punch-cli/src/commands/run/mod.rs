//! `punch run`: runs agents until the plan is done.

mod control;
mod dry;
pub mod watch;

use clap::Args;
use punch_core::text::grouped;
use punch_engine::config::SettingSource;
use punch_engine::locate::Location;
use punch_engine::{Answerer, NotTheUser, RunOutcome};
use punch_run::agent::AgentSpec;
use punch_run::{Interrupt, RunError, RunOptions, RunProject, RunResult, dollars};
use serde_json::Value;

use crate::arguments::Global;
use crate::environment;
use crate::failure::{Exit, Failure};
use crate::guard;
use crate::input;
use crate::output;
use crate::project::{OpenProject, Project};
use crate::reply::VerbReply;
use crate::safety;
use control::RunControl;
use watch::RunScreen;

/// Help at length.
pub const LONG_ABOUT: &str = "\
Run agents until the plan is done.

The schedule decides which agent works on which todo, each under a lease. A todo that an agent reports as done is checked \
before it counts; one that fails is retried, and the agent learns what failed. If a run was killed, interrupted or \
stopped by a limit, the next `punch run` resumes it and keeps counting its cost.";

const EXAMPLES: &str = "\
Examples:
  punch run --agent claude
  punch run --agents 3 --agent claude --agent codex --max-cost 20
  punch run --agents 2 --agent 'exec:./work.sh' --max-time 8h
  punch run --agent 'acp:opencode acp' --worktrees --permission deny --allow 'mcp__punch__*'
  punch run --agents 4 --agent claude --dry-run      # who would work on what; nothing is started
  punch run pause                                    # from another terminal
  punch run list                                     # past runs; `run show` shows one of them

Exit codes: 0 done, 1 stalled, 4 a limit was reached, 130 interrupted.";

/// The arguments of `punch run`.
#[derive(Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct RunArgs {
    #[command(subcommand)]
    control: Option<RunControl>,
    /// How many agents work at once
    #[arg(long, value_name = "K")]
    agents: Option<String>,
    /// exec:COMMAND, claude, codex or acp:COMMAND; several take turns (repeatable)
    #[arg(long, value_name = "SPEC")]
    agent: Vec<String>,
    /// Give every todo a git worktree of its own
    #[arg(long)]
    worktrees: bool,
    /// Stop after this many dollars
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<String>,
    /// Stop after this many tokens; unreported usage counts as estimated
    #[arg(long, value_name = "N")]
    max_tokens: Option<String>,
    /// Stop after this time, for example 8h
    #[arg(long, value_name = "TIME")]
    max_time: Option<String>,
    /// Stop after this many turns of agents
    #[arg(long, value_name = "N")]
    max_turns: Option<String>,
    /// How to answer agents' permission requests: ask, allow or deny
    #[arg(long, value_name = "POLICY")]
    permission: Option<String>,
    /// Allow this without asking: `TOOL` or `TOOL(USE)`, with `*` for any text
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Start a new run with a fresh budget instead of resuming
    #[arg(long)]
    fresh: bool,
    /// Also work on todos larger than a whole context window, last
    #[arg(long)]
    oversize: bool,
    /// Leave optional todos (priority 5) open, and name them at the end
    #[arg(long)]
    skip_optional: bool,
    /// Show who would work on what, and start nothing
    #[arg(long)]
    dry_run: bool,
}

impl RunArgs {
    /// Runs the verb.
    pub fn run(mut self, global: Global) -> Result<Exit, Failure> {
        if let Some(control) = self.control.take() {
            let as_json = global.json;
            let reply = control.run(global)?;
            output::reply(&reply, as_json)?;
            return Ok(reply.exit);
        }
        if !self.dry_run {
            guard::only_user("start `punch run`")?;
        }
        let as_json = global.json;
        let project = Project::find_from(global, None, self.flags())
            .map_err(|failure| failure.naming(flag_of, "`punch run --help` shows examples"))?;
        project.warn_ignored();
        let (options, open) = self.options(project)?;
        let Some(open) = open else {
            let (message, hint) =
                ("there is no plan to run", "add a todo first, for example `punch add 'Write the parser'`");
            return Err(Failure::refused("no_plan", message, hint));
        };
        if self.dry_run {
            let reply = dry::preview(&open, &options)?;
            output::reply(&reply, as_json)?;
            return Ok(reply.exit);
        }
        let name = open.engine.plans()?.into_iter().find(|plan| plan.id == open.plan).map(|plan| plan.name);
        let world = RunProject {
            engine: &open.engine,
            plan: open.plan,
            plan_name: name.unwrap_or_default(),
            settings: &open.project.config.settings,
            root: open.project.location.project_root.clone(),
            store: open.project.location.database.clone(),
            store_variables: store_variables(&open.project.location),
            trees: open.trees()?,
            consents: open.project.consents(),
            punch: environment::program()?,
            without: environment::withheld().map(str::to_owned).collect(),
        };
        let interrupt = Interrupt::default();
        interrupt.listen().map_err(Failure::Input)?;
        let screen = RunScreen::new(as_json, options.seats, interrupt.clone(), answerer(&open, as_json)?);
        let finished = punch_run::run(&world, &options, &screen, &interrupt);
        screen.close();
        let finished = finished.map_err(failure)?;
        if let Some(safety) = open.project.safety() {
            safety.keep_changed();
        }
        let reply = reply(&finished);
        output::reply(&VerbReply { json: Value::Null, ..reply }, as_json)?;
        if let Some(next) = what_next(finished.outcome).filter(|_| !as_json && environment::is_attended()) {
            output::remark(&format!("hint: {next}"));
        }
        Ok(exit(finished.outcome))
    }

    /// Flags that set settings, by [`flag_of`]: their values are parsed and refused like those.
    fn flags(&self) -> Vec<(String, String)> {
        let given = [
            ("run.agents", &self.agents),
            ("run.max_cost", &self.max_cost),
            ("run.max_tokens", &self.max_tokens),
            ("run.max_time", &self.max_time),
            ("run.max_turns", &self.max_turns),
            ("run.permission", &self.permission),
        ];
        let mut out: Vec<(String, String)> =
            given.iter().filter_map(|(key, value)| Some(((*key).to_owned(), (*value).clone()?))).collect();
        for (_, value) in out.iter_mut().filter(|(key, _)| key == "run.max_tokens") {
            // What is not understood is refused with the setting.
            *value = input::tokens(value).map_or_else(|_| value.clone(), |tokens| tokens.to_string());
        }
        if !self.allow.is_empty() {
            out.push(("run.allow".to_owned(), self.allow.join(",")));
        }
        if self.worktrees {
            out.push(("run.worktrees".to_owned(), "true".to_owned()));
        }
        out
    }

    fn options(&self, project: Project) -> Result<(RunOptions, Option<OpenProject>), Failure> {
        let settings = project.config.settings.clone();
        let open = project.read()?.plan();
        let mut named = match self.agent.is_empty() {
            true => settings.run_agent.value.clone().into_iter().collect(),
            false => self.agent.clone(),
        };
        let last = match &open {
            Some(open) => open.engine.runs(open.plan, 1)?.into_iter().next(),
            None => None,
        };
        // Without an agent, the user means "as before": with the agents of the last run, and where they worked.
        let repeated = last.as_ref().filter(|_| named.is_empty());
        if let Some(last) = repeated {
            named.clone_from(&last.body.agents);
        }
        let specs = named.iter().map(|name| name.parse::<AgentSpec>()).collect::<Result<Vec<_>, _>>();
        let specs = specs.map_err(|error| Failure::usage(&error.message(), &error.hint()))?;
        if specs.is_empty() {
            let hint = "name one: `punch run --agent claude`, or `punch config set run.agent claude`";
            return Err(Failure::usage("no agent given", hint));
        }
        let mut options = RunOptions::of(&settings, specs);
        options.fresh = self.fresh;
        options.oversize = self.oversize;
        options.skip_optional |= self.skip_optional;
        let resumed = last.as_ref().filter(|last| last.is_resumable() && !self.fresh);
        if self.agents.is_none() {
            // A run continues as it began, unless the user has said how many agents there are.
            let before = repeated.or(resumed).filter(|_| settings.run_agents.source == SettingSource::Default);
            let before = before.and_then(|last| usize::try_from(last.body.options["agents"].as_u64()?).ok());
            options.seats = before.unwrap_or(options.seats).max(options.specs.len());
        }
        if let Some(last) = repeated {
            // Agents that worked in worktrees must not find themselves in the files of the user.
            let has_chosen = settings.run_worktrees.source != SettingSource::Default;
            options.worktrees |= last.has_worktrees() && !has_chosen;
            let place = if options.worktrees { ", in worktrees" } else { ", in this folder" };
            let agents = safety::count(options.seats as u64, "agent");
            let before = format!("{agents} ({}){place}", named.join(", "));
            output::remark(&format!("note: no agent given; using the options of run {}: {before}", last.id));
        }
        Ok((options, open))
    }
}

/// Returns the flag for a setting.
fn flag_of(key: &str) -> Option<String> {
    key.strip_prefix("run.").map(|name| format!("--{}", name.replace('_', "-")))
}

/// Proof that the user can answer questions of agents at this terminal, if so.
fn answerer(open: &OpenProject, as_json: bool) -> Result<Option<Answerer>, Failure> {
    if as_json || !environment::has_terminal() {
        return Ok(None);
    }
    let own = environment::inside_agent().map(|mark| mark.variable);
    match open.engine.user_at_terminal(open.plan, &environment::agent_marks(), own)? {
        Ok(answerer) => Ok(Some(answerer)),
        Err(NotTheUser::NoTerminal) => Ok(None),
        Err(doubt) => {
            output::remark(&format!("note: agents' questions cannot be answered here: {doubt}"));
            Ok(None)
        }
    }
}

/// The word, what is to be said about it, and what it took. The last line is the word's.
fn reply(finished: &RunResult) -> VerbReply {
    let mut lines: Vec<String> = finished.because.iter().map(|line| format!("  {line}")).collect();
    let spent = &finished.spent;
    let mut parts = vec![format!("{} completed", finished.completed)];
    match spent.estimated {
        0 if spent.tokens == 0 => {}
        0 => parts.push(format!("{} tokens", grouped(spent.tokens))),
        all if all == spent.tokens => parts.push(format!("tokens not reported (counted as {})", grouped(all))),
        some => parts.push(format!("{} tokens ({} estimated)", grouped(spent.tokens), grouped(some))),
    }
    if spent.cost > 0 {
        let more = if spent.uncosted > 0 { " or more" } else { "" };
        parts.push(format!("{}{more}", dollars(spent.cost)));
    }
    parts.push(safety::count(spent.turns, "turn"));
    let outcome = match finished.outcome {
        RunOutcome::Budget => "limit reached",
        other => other.name(),
    };
    let nothing = (finished.outcome, finished.completed, spent.turns) == (RunOutcome::Done, 0, 0);
    let took = if nothing { "nothing to run: no todo is open".to_owned() } else { parts.join(", ") };
    lines.push(format!("{outcome}: run {}, {took}", finished.run));
    VerbReply { exit: exit(finished.outcome), ..VerbReply::new(lines.join("\n"), Value::Null) }
}

/// What to type after a run that is not done.
const fn what_next(outcome: RunOutcome) -> Option<&'static str> {
    match outcome {
        RunOutcome::Done => None,
        RunOutcome::Stalled => Some("`punch inbox` shows what needs you; `punch run` continues afterwards"),
        RunOutcome::Budget => {
            Some("`punch run` with higher limits resumes it; `punch run --fresh` starts a new budget")
        }
        RunOutcome::Interrupted => Some("`punch run` resumes it"),
    }
}

const fn exit(outcome: RunOutcome) -> Exit {
    match outcome {
        RunOutcome::Done => Exit::Ok,
        RunOutcome::Stalled => Exit::Refused,
        RunOutcome::Budget => Exit::Budget,
        RunOutcome::Interrupted => Exit::Interrupted,
    }
}

/// The failure of a run as that of a command.
pub fn failure(error: RunError) -> Failure {
    match error {
        RunError::Engine(error) => Failure::Engine(error),
        error => Failure::refused(error.code(), error.message(), &error.hint()),
    }
}

/// The variables that lead the programs of an agent to the store of the run.
pub fn store_variables(location: &Location) -> Vec<(String, String)> {
    let variable = |name: &str, value: String| (name.to_owned(), value);
    match &location.server {
        Some(place) => {
            vec![variable("PUNCH_STORE", place.address.clone()), variable("PUNCH_PROJECT", place.project.clone())]
        }
        None => vec![variable("PUNCH_STORE", location.dir.display().to_string())],
    }
}
