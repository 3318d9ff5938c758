//! `cargo xtask agents`: real coding agents against the scripted model, with our server and hooks wired in, each in a
//! home and a repository of its own. Scenarios are files in `xtask/scenarios`; `docs/scenarios.md` tells how to write one.

pub mod child;
mod driven;
mod hosts;
mod http;
mod install;
mod installed;
mod jobs;
mod scenario;
mod screen;
mod trial;
mod trial_folders;
mod validate;
mod verdict;

use std::fs;
use std::path::PathBuf;

use punch_testkit::scripted::{AgentScript, ScriptedServer, ServerOptions};

use crate::{TaskResult, process};
use hosts::TrialAgent;
use install::AvailableAgents;
use scenario::{AgentScenario, By};

const USAGE: &str = "\
Usage: cargo xtask agents [AGENT…] [--scenario NAME]… [--all] [--keep] [--punch PROGRAM]

Runs the scenarios that the gate runs, one for each agent; with --all every scenario. Agents: {AGENTS}.
They come from npm, about 2 GB, into punch-agents in the user's cache folder, or into the folder that
PUNCH_AGENTS_CACHE names. With --keep the folders of all runs stay, not only those of failed ones;
with --punch that program is tested instead of a fresh build. --list tells the scenarios.";

fn usage() -> String {
    let names: Vec<&str> = TrialAgent::all().map(TrialAgent::name).collect();
    USAGE.replace("{AGENTS}", &names.join(", "))
}

/// What was asked for.
struct AgentsOptions {
    hosts: Vec<TrialAgent>,
    scenarios: Vec<String>,
    all: bool,
    keep: bool,
    punch: Option<PathBuf>,
}

/// What every trial needs.
struct TrialSetup {
    found: AvailableAgents,
    /// The program under test.
    punch: PathBuf,
    /// Folders stay.
    keep: bool,
}

/// Runs what was chosen.
pub fn run(arguments: &[&str]) -> TaskResult {
    if let ["--help" | "-h"] = arguments {
        println!("{}", usage());
        return Ok(());
    }
    let scenarios = AgentScenario::read_all(&process::root().join("xtask/scenarios"))?;
    if arguments == ["--list"] {
        for scenario in &scenarios {
            let names: Vec<&str> = scenario.hosts.iter().map(|host| host.name()).collect();
            println!("{:<20} {}\n{:<20} {}", scenario.name, scenario.about, "", names.join(", "));
        }
        return Ok(());
    }
    let choice = parse(arguments)?;
    let jobs = choose(&choice, &scenarios)?;
    let (jobs, unseen): (Vec<_>, Vec<_>) =
        jobs.into_iter().partition(|(_, scenario)| !scenario.needs_screen() || screen::is_possible());
    for (host, scenario) in unseen {
        process::skip(&format!("{} {}", host.name(), scenario.name), "tmux is not installed")?;
    }
    let over_acp = |scenario: &AgentScenario| scenario.drive.as_ref().is_some_and(|drive| drive.by == By::Acp);
    let adapted: Vec<TrialAgent> =
        jobs.iter().filter(|(_, scenario)| over_acp(scenario)).map(|(host, _)| *host).collect();
    let needed = jobs.iter().flat_map(|(host, scenario)| scenario.others().chain([*host]));
    let found = install::install(&needed.collect::<Vec<_>>(), &adapted);
    let punch = choice.punch.map_or_else(process::build_punch, Ok)?;
    let punch = punch.canonicalize().map_err(|cause| format!("{}: {cause}", punch.display()))?;
    jobs::run(&jobs, &TrialSetup { found, punch, keep: choice.keep })
}

/// What scenarios know about an agent.
pub struct AgentFacts {
    /// The version that they run.
    pub version: &'static str,
    /// The argument with which the program itself speaks the Agent Client Protocol.
    pub acp: Option<&'static str>,
}

/// Returns what scenarios know about the agent of a name; `None` if they do not run it.
pub fn measured(name: &str) -> Option<AgentFacts> {
    let host = TrialAgent::parse(name)?;
    // Scenarios add arguments of their own after the one that matters.
    let acp = if let hosts::AcpCommand::Own(arguments) = host.trial.acp { arguments.split(' ').next() } else { None };
    Some(AgentFacts { version: host.trial.package.1, acp })
}

/// How many agents scenarios run.
pub fn all_measured() -> usize {
    TrialAgent::all().count()
}

/// Lets the agents themselves judge the plugins and extensions that this repository ships.
pub fn validate() -> TaskResult {
    validate::run()
}

/// `cargo xtask model FILE [--port N] [--log FILE]`: the scripted model alone, until it is interrupted.
pub fn model(arguments: &[&str]) -> TaskResult {
    const USAGE: &str = "usage: cargo xtask model SCRIPT [--port N] [--log FILE]";
    let [file, rest @ ..] = arguments else { return Err(USAGE.to_owned()) };
    let mut options = ServerOptions::default();
    for pair in rest.chunks(2) {
        match pair {
            ["--port", port] => options.port = port.parse().map_err(|_| format!("invalid port `{port}`"))?,
            ["--log", log] => options.log = Some(PathBuf::from(log)),
            _ => return Err(USAGE.to_owned()),
        }
    }
    let text = fs::read_to_string(file).map_err(|cause| format!("{file}: {cause}"))?;
    let server = ScriptedServer::start(AgentScript::parse(&text)?, &options).map_err(|cause| cause.to_string())?;
    println!("{0}\nGET {0}/report tells how it goes.", server.url());
    loop {
        std::thread::park();
    }
}

fn parse(arguments: &[&str]) -> Result<AgentsOptions, String> {
    let mut choice = AgentsOptions { hosts: Vec::new(), scenarios: Vec::new(), all: false, keep: false, punch: None };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match *argument {
            "--all" => choice.all = true,
            "--keep" => choice.keep = true,
            "--punch" => choice.punch = Some(PathBuf::from(arguments.next().ok_or("`--punch` needs a program")?)),
            "--scenario" => {
                let name = arguments.next().ok_or("`--scenario` needs a name; `--list` has them")?;
                choice.scenarios.push((*name).to_owned());
            }
            name => {
                choice.hosts.push(TrialAgent::parse(name).ok_or_else(|| format!("no agent `{name}`\n\n{}", usage()))?)
            }
        }
    }
    Ok(choice)
}

/// Every pair of an agent and a scenario that is to run.
fn choose<'a>(
    choice: &AgentsOptions,
    scenarios: &'a [AgentScenario],
) -> Result<Vec<(TrialAgent, &'a AgentScenario)>, String> {
    if let Some(unknown) = choice.scenarios.iter().find(|name| !scenarios.iter().any(|known| known.name == **name)) {
        let known: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
        return Err(format!("no scenario `{unknown}`; there are {}", known.join(", ")));
    }
    let wanted = |scenario: &&AgentScenario| match choice.scenarios.is_empty() {
        true => choice.all || scenario.gate,
        false => choice.scenarios.contains(&scenario.name),
    };
    let mut out = Vec::new();
    for scenario in scenarios.iter().filter(wanted) {
        let hosts = scenario.hosts.iter().filter(|host| choice.hosts.is_empty() || choice.hosts.contains(host));
        out.extend(hosts.map(|host| (*host, scenario)));
    }
    if out.is_empty() { Err("no scenario for this agent; `--all` and `--list` help".to_owned()) } else { Ok(out) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(name: &str, gate: bool, hosts: &[TrialAgent]) -> AgentScenario {
        AgentScenario { name: name.to_owned(), gate, hosts: hosts.to_vec(), ..AgentScenario::default() }
    }

    fn chosen(arguments: &[&str]) -> Result<Vec<String>, String> {
        let all: Vec<TrialAgent> = TrialAgent::all().collect();
        let scenarios = [scenario("a", true, &all), scenario("b", false, &all[..1])];
        let jobs = choose(&parse(arguments)?, &scenarios)?;
        Ok(jobs.iter().map(|(host, scenario)| format!("{} {}", host.name(), scenario.name)).collect())
    }

    #[test]
    fn without_words_every_agent_runs_what_the_gate_runs() {
        assert_eq!(chosen(&[]).map(|jobs| jobs.len()), Ok(TrialAgent::all().count()));
        assert_eq!(chosen(&["codex"]), Ok(vec!["codex a".to_owned()]));
    }

    #[test]
    fn all_and_named_scenarios_go_beyond_the_gate() {
        assert_eq!(chosen(&["claude", "--all"]), Ok(vec!["claude a".to_owned(), "claude b".to_owned()]));
        assert_eq!(chosen(&["--scenario", "b"]), Ok(vec!["claude b".to_owned()]));
    }

    #[test]
    fn unknown_names_and_empty_choices_are_told() {
        assert!(chosen(&["--scenario", "c"]).is_err_and(|error| error.contains("there are a, b")));
        assert!(chosen(&["aider"]).is_err_and(|error| error.starts_with("no agent `aider`")));
        assert!(chosen(&["codex", "--scenario", "b"]).is_err());
    }

    #[test]
    fn every_scenario_of_the_tree_is_readable_and_the_gate_has_one_for_each_agent() {
        let scenarios =
            AgentScenario::read_all(&process::root().join("xtask/scenarios")).unwrap_or_else(|e| panic!("{e}"));
        for host in TrialAgent::all() {
            let gated = scenarios.iter().filter(|scenario| scenario.gate && scenario.hosts.contains(&host)).count();
            assert_eq!(gated, 1, "{}", host.name());
        }
    }
}
