//! `punch worker`: runs a worker that takes todos on this machine.

use std::collections::BTreeSet;

use clap::{Args, Subcommand};
use punch_core::view::FleetView;
use punch_core::{Label, text};
use punch_engine::{EngineError, default_worker_name, is_worker_name};
use punch_run::agent::AgentSpec;
use punch_run::{FleetOptions, FleetProject, Interrupt, RunObserver, RunOptions, RunProject};

use super::run::watch::RunScreen;
use super::run::{failure, store_variables};
use super::worker_log::WorkerLog;
use crate::arguments::Global;
use crate::environment;
use crate::failure::{Exit, Failure};
use crate::guard;
use crate::log_format::LogFormat;
use crate::open_store;
use crate::output;
use crate::project::Project;
use crate::reply::VerbReply;

/// Help at length.
pub const LONG_ABOUT: &str = "\
Run a worker that takes todos on this machine.

Workers share a store and a git remote. Each takes ready todos whose `runs-on:` labels it has, gives them to agents in \
worktrees, and pushes the work. For each plan one worker coordinates: it merges and checks what the others push. The first \
Ctrl-C or SIGTERM lets agents finish, the second one asks them to end.";

const EXAMPLES: &str = "\
Examples:
  punch worker --agent claude
  punch worker --name gpu-1 --label gpu --seats 2 --agent codex
  punch worker --plan release --agent 'exec:./work.sh'
  punch worker --agent claude --log json     # a JSON line per event, for log collectors
  punch worker list                          # who works on what, on all machines
  punch add 'Train the model' --label runs-on:gpu

Exit codes: 0 ended as asked, 1 the name is taken or there is no git remote.";

/// The arguments of `punch worker`.
#[derive(Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct WorkerArgs {
    #[command(subcommand)]
    verb: Option<WorkerVerb>,
    /// Name this worker [default: the name of the machine]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Take todos with the label `runs-on:LABEL` (repeatable)
    #[arg(long, value_name = "LABEL")]
    label: Vec<String>,
    /// Run at most K agents at once
    #[arg(long, value_name = "K")]
    seats: Option<String>,
    /// Take todos of these plans only, separated by commas; `--plan` names one [default: every plan in use]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    plans: Vec<String>,
    /// exec:COMMAND, claude, codex or acp:COMMAND; several take turns (repeatable)
    #[arg(long, value_name = "SPEC")]
    agent: Vec<String>,
    /// Exchange work through this git remote
    #[arg(long, value_name = "REMOTE")]
    remote: Option<String>,
    /// How to answer agents' permission requests: ask, allow or deny
    #[arg(long, value_name = "POLICY")]
    permission: Option<String>,
    /// Allow this without asking: `TOOL` or `TOOL(USE)`, with `*` for any text
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Write what happens to standard error, a line per event with its time
    #[arg(long, value_name = "FORMAT", value_enum)]
    log: Option<LogFormat>,
}

/// What else can be done with workers.
#[derive(Subcommand)]
enum WorkerVerb {
    /// List workers on all machines, with their todos and orphaned claims
    List,
}

impl WorkerArgs {
    /// Runs the verb.
    pub fn run(mut self, global: Global) -> Result<Exit, Failure> {
        let as_json = global.json;
        if let Some(WorkerVerb::List) = self.verb.take() {
            let view = match Project::find(global)?.engine()? {
                Some(engine) => engine.fleet()?,
                None => FleetView::default(),
            };
            let lines = view.lines((environment::clock())()).join("\n");
            let reply = VerbReply::new(lines, view.record());
            output::reply(&reply, as_json)?;
            return Ok(reply.exit);
        }
        guard::only_user("start `punch worker`")?;
        let plans: Vec<String> = self.plans.iter().cloned().chain(global.plan.clone()).collect();
        let project = Project::find_from(global, None, self.flags())?;
        project.warn_ignored();
        let options = self.options(&project)?;
        let fleet = self.fleet(plans)?;
        let open = project.read()?.write()?;
        let project = &open.project;
        let location = &project.location;
        let reopen = || {
            let store = open_store::open(location, punch_store::OpenMode::Existing, project.wait)?;
            Ok::<_, EngineError>(punch_engine::Engine::new(store, environment::clock()))
        };
        let base = RunProject {
            engine: &open.engine,
            plan: open.plan,
            plan_name: String::new(),
            settings: &project.config.settings,
            root: location.project_root.clone(),
            store: location.database.clone(),
            store_variables: store_variables(location),
            trees: open.trees()?,
            consents: project.consents(),
            punch: environment::program()?,
            without: environment::withheld().map(str::to_owned).collect(),
        };
        let signals = Interrupt::default();
        signals.listen().map_err(Failure::Input)?;
        let observer: Box<dyn RunObserver> = match self.log {
            Some(format) => Box::new(WorkerLog { worker: fleet.name.clone(), format }),
            None => Box::new(RunScreen::plain(as_json, signals.clone())),
        };
        let world = FleetProject { base, open: &reopen };
        punch_run::work(&world, &options, &fleet, observer.as_ref(), &signals).map_err(failure)?;
        Ok(Exit::Ok)
    }

    /// Flags that set settings: their values are parsed and refused like those.
    fn flags(&self) -> Vec<(String, String)> {
        let given =
            [("run.agents", &self.seats), ("worker.remote", &self.remote), ("run.permission", &self.permission)];
        let mut out: Vec<(String, String)> =
            given.iter().filter_map(|(key, value)| Some(((*key).to_owned(), (*value).clone()?))).collect();
        if !self.allow.is_empty() {
            out.push(("run.allow".to_owned(), self.allow.join(",")));
        }
        out
    }

    fn options(&self, project: &Project) -> Result<RunOptions, Failure> {
        let settings = &project.config.settings;
        let named = match self.agent.is_empty() {
            true => settings.run_agent.value.clone().into_iter().collect(),
            false => self.agent.clone(),
        };
        let specs = named.iter().map(|name| name.parse::<AgentSpec>()).collect::<Result<Vec<_>, _>>();
        let specs = specs.map_err(|error| Failure::usage(&error.message(), &error.hint()))?;
        if specs.is_empty() {
            let hint = "name one: `punch worker --agent claude`, or `punch config set run.agent claude`";
            return Err(Failure::usage("no agent given", hint));
        }
        let mut options = RunOptions { worktrees: true, ..RunOptions::of(settings, specs) };
        if self.seats.is_none() {
            options.seats = options.seats.max(options.specs.len());
        }
        Ok(options)
    }

    fn fleet(&self, plans: Vec<String>) -> Result<FleetOptions, Failure> {
        let name = self.name.clone().unwrap_or_else(default_worker_name);
        if !is_worker_name(&name) {
            let message = format!("invalid worker name `{}`", text::neutral(&name));
            return Err(Failure::usage(&message, "use letters, digits, `.`, `_` and `-`, for example `--name gpu-1`"));
        }
        // Todos have `runs-on:gpu`, workers `gpu`.
        let given = self.label.iter().map(|label| label.strip_prefix("runs-on:").unwrap_or(label));
        let labels = Label::parse_all(given);
        let labels: BTreeSet<Label> = labels.map_err(|refusal| Failure::usage(&refusal.message(), &refusal.hint()))?;
        Ok(FleetOptions { name, labels, plans, version: env!("CARGO_PKG_VERSION").to_owned() })
    }
}
