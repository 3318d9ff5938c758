//! One scenario with one agent, from an empty folder to the verdict.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use punch_agents::HookForm;
use punch_testkit::postgres::{Cluster, Disk};
use punch_testkit::scripted::{ScriptedServer, ServerOptions};
use serde_json::{Value, json};

use super::TrialSetup;
use super::driven;
use super::hosts::{TrialAgent, TrialConversation};
use super::installed::InstalledFiles;
use super::scenario::{AgentScenario, Beside, ScenarioRun};
use super::screen;
use super::trial_folders::TrialFolders;
use super::verdict::{self, TrialEnd};

/// A run of an agent is given up after this. Only a broken one takes it.
const LIMIT: Duration = Duration::from_secs(150);

/// Everything an agent is started with.
pub struct TrialWiring<'a> {
    pub place: &'a TrialFolders,
    pub scenario: &'a AgentScenario,
    pub run: &'a ScenarioRun,
    /// The model's address, without a path.
    pub model: String,
    pub limit: Duration,
}

impl TrialWiring<'_> {
    /// Returns the hooks of an agent, for the events and in the form in which `punch install` writes them.
    pub fn hooks(&self, agent: &str) -> Value {
        let form = punch_agents::named(agent).map(|adapter| &adapter.hooks);
        let group = |form: &HookForm, event: &str| {
            let command = format!("{} hook --agent {agent} {event}", self.place.punch.display());
            (event.to_owned(), json!([(form.handler)(&command, event)]))
        };
        form.map(|form| form.events.iter().map(|event| group(form, event)).collect()).unwrap_or_default()
    }

    /// Whether `punch install` or `punch run` does the wiring.
    pub fn is_installed(&self) -> bool {
        self.scenario.install.is_some() || self.scenario.drive.is_some()
    }

    /// The variables that the scenario asks for.
    pub fn env(&self) -> impl Iterator<Item = (&String, &String)> {
        self.scenario.env.iter().chain(&self.run.env)
    }

    /// The arguments of our server.
    pub fn server(&self) -> Vec<&str> {
        let more = self.scenario.mcp.iter().map(String::as_str);
        std::iter::once("mcp").chain(more).collect()
    }
}

/// What is wrong; nothing if all is well. The folder stays where it is if something is, or if it is to be kept.
pub fn run(host: TrialAgent, scenario: &AgentScenario, tested: &TrialSetup, root: PathBuf) -> Vec<String> {
    let place = match TrialFolders::make(root, tested) {
        Ok(place) => place,
        Err(cause) => return vec![cause],
    };
    let failures = attempt(host, scenario, &place).unwrap_or_else(|cause| vec![cause]);
    if failures.is_empty() && !tested.keep {
        place.remove();
    }
    failures
}

fn attempt(host: TrialAgent, scenario: &AgentScenario, place: &TrialFolders) -> Result<Vec<String>, String> {
    let server = if scenario.postgres { Some(start_server()?) } else { None };
    match &server {
        Some(server) => {
            let address = server.address("postgres");
            place.punch(&["init", "--store", &address, "--project", "trial", "--no-agents"])?
        }
        None => place.punch(&["init"])?,
    };
    for command in &scenario.before {
        match command.first().and_then(|verb| verb.strip_prefix('-')) {
            Some(verb) => drop(place.punch(&[&[verb], &words(command)[1..]].concat())),
            None => drop(place.punch(&words(command))?),
        }
    }
    let mut failures = Vec::new();
    let mut conversation = TrialConversation::default();
    for (n, run) in scenario.runs.iter().enumerate() {
        let log = place.file(&format!("requests-{n}.jsonl"));
        let options = ServerOptions { tag: format!("r{n}"), log: Some(log), port: 0 };
        let server = ScriptedServer::start(scenario.script(host, run)?, &options).map_err(|cause| cause.to_string())?;
        let wiring = TrialWiring { place, scenario, run, model: server.url(), limit: LIMIT };
        (host.trial.configure)(&wiring)?;
        let installed = scenario.install.map(|level| InstalledFiles::install(place, host, level)).transpose()?;
        let exit = match &scenario.drive {
            Some(drive) => driven::run(host, drive, &wiring, &server),
            None if run.screen => screen::converse(host, &wiring, &server),
            None => match &run.beside {
                Some(beside) => together(host, beside, &wiring, &mut conversation),
                None => (host.trial.converse)(&wiring, &mut conversation),
            },
        };
        let ended = TrialEnd { report: server.report(), exit, output: conversation.output(place) };
        failures.extend(verdict::of_run(host, run, &ended).into_iter().map(|failure| format!("run {n}: {failure}")));
        if let Some(wanted) = &run.todos {
            let found = verdict::of_todos(wanted, place);
            failures.extend(found.into_iter().map(|failure| format!("run {n}: {failure}")));
        }
        if scenario.drive.is_some() || run.screen {
            failures.extend(driven::strays(place).into_iter().map(|failure| format!("run {n}: {failure}")));
        }
        if let Some(installed) = installed {
            failures.extend(installed.uninstall(place)?.into_iter().map(|failure| format!("run {n}: {failure}")));
        }
        for command in &run.after {
            place.punch(&words(command))?;
        }
    }
    failures.extend(verdict::of_plan(scenario, place));
    if let Some(drive) = &scenario.drive {
        failures.extend(driven::verdict(drive, place)?);
    }
    Ok(failures)
}

fn start_server() -> Result<Cluster, String> {
    Cluster::start(Disk::Fast).map_err(|cause| format!("PostgreSQL did not start: {cause}"))
}

/// Lets two agents work at the same time: the exit code of the first, unless the second one fails.
fn together(
    host: TrialAgent,
    beside: &Beside,
    wiring: &TrialWiring,
    conversation: &mut TrialConversation,
) -> Result<i32, String> {
    let run = ScenarioRun { prompts: beside.prompts.clone(), beside: None, ..wiring.run.clone() };
    let other = TrialWiring { run: &run, model: wiring.model.clone(), ..*wiring };
    (beside.agent.trial.configure)(&other)?;
    thread::scope(|scope| {
        let second = scope.spawn(|| (beside.agent.trial.converse)(&other, &mut TrialConversation::default()));
        let first = (host.trial.converse)(wiring, conversation);
        match second.join().unwrap_or_else(|_| Err("it panicked".to_owned())) {
            Ok(0) => first,
            Ok(code) => Err(format!("{} ended with {code}", beside.agent.name())),
            Err(cause) => Err(format!("{}: {cause}", beside.agent.name())),
        }
    })
}

fn words(command: &[String]) -> Vec<&str> {
    command.iter().map(String::as_str).collect()
}
