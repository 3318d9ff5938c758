//! Installs the agents from npm, each at the version the tests were written for, with npm configured as it is on this
//! machine. One npm for all of them is quickest; if it fails, each is tried alone, so that one failure does not affect
//! the others.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::child;
use super::hosts::{AcpCommand, TrialAgent};

/// Some agents ask for a newer Node than distributions have.
const NODE: (&str, &str) = ("node", "22");
/// npm is given up after this.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// Which agents can be run.
pub struct AvailableAgents {
    /// Their programs, and Node.
    pub bin: PathBuf,
    /// Those that cannot, with the reason.
    pub missing: Vec<(TrialAgent, String)>,
    /// What OpenCode fetches on its first start in an empty home.
    pub plugin: PathBuf,
    /// The programs that let agents speak the Agent Client Protocol.
    pub adapters: PathBuf,
    /// Agents whose program for that is missing.
    pub unadapted: Vec<(TrialAgent, String)>,
}

/// Makes sure that these agents are there; for those in `adapted` also what lets them speak the Agent Client Protocol.
pub fn install(hosts: &[TrialAgent], adapted: &[TrialAgent]) -> AvailableAgents {
    let (adapters, unadapted) = adapt(adapted);
    AvailableAgents { adapters, unadapted, ..agents(hosts) }
}

/// In a folder of their own: they bring agents of other versions along.
fn adapt(hosts: &[TrialAgent]) -> (PathBuf, Vec<(TrialAgent, String)>) {
    let modules = folder().join("acp").join("node_modules");
    let mut unadapted = Vec::new();
    for host in TrialAgent::all().filter(|host| hosts.contains(host)) {
        let AcpCommand::Package { name: package, version, .. } = host.trial.acp else { continue };
        if is_version(&modules, package, version) {
            continue;
        }
        println!("    installing {package}@{version}");
        let node = format!("{}@{}", NODE.0, NODE.1);
        if let Err(cause) = npm(&folder().join("acp"), &[format!("{package}@{version}"), node]) {
            println!("    {package}: {cause}");
        }
        if !is_version(&modules, package, version) {
            unadapted.push((host, format!("{package}@{version} could not be installed by npm")));
        }
    }
    (modules.join(".bin"), unadapted)
}

fn is_version(modules: &Path, package: &str, version: &str) -> bool {
    let found = fs::read(modules.join(package).join("package.json")).ok();
    let found = found.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    found.is_some_and(|found| found["version"] == version)
}

fn agents(hosts: &[TrialAgent]) -> AvailableAgents {
    let folder = folder();
    let (bin, plugin) = (folder.join("node_modules/.bin"), folder.join("opencode"));
    let mut wanted: Vec<TrialAgent> = TrialAgent::all().filter(|host| hosts.contains(host)).collect();
    for (package, version) in wanted.iter().filter_map(|host| Some((host.trial.plugin?, host.trial.package.1))) {
        if plugin.join("node_modules").join(package).exists() {
            continue;
        }
        println!("    installing {package}@{version}");
        // The agent would fetch it by itself, for every run anew.
        if let Err(cause) = npm(&plugin, &[format!("{package}@{version}")]) {
            println!("    {cause}");
        }
    }
    wanted.retain(|host| !is_there(&folder, *host));
    if wanted.is_empty() {
        return AvailableAgents { bin, plugin, missing: Vec::new(), adapters: PathBuf::new(), unadapted: Vec::new() };
    }
    let begin = Instant::now();
    println!("    installing {} into {}", names(&wanted), folder.display());
    let node = format!("{}@{}", NODE.0, NODE.1);
    let mut packages: Vec<String> = wanted.iter().map(|host| specification(*host)).collect();
    packages.push(node.clone());
    if let Err(cause) = npm(&folder, &packages) {
        println!("    together: {cause}");
        for host in &wanted {
            if let Err(cause) = npm(&folder, &[specification(*host), node.clone()]) {
                println!("    {}: {cause}", host.name());
            }
        }
    }
    println!("    npm took {:.0} s", begin.elapsed().as_secs_f64());
    let reason = |host: TrialAgent| (host, format!("{} could not be installed by npm", specification(host)));
    let missing = wanted.into_iter().filter(|host| !is_there(&folder, *host)).map(reason).collect();
    AvailableAgents { bin, plugin, missing, adapters: PathBuf::new(), unadapted: Vec::new() }
}

fn names(hosts: &[TrialAgent]) -> String {
    hosts.iter().map(|host| host.name()).collect::<Vec<_>>().join(", ")
}

fn specification(host: TrialAgent) -> String {
    let (package, version) = host.trial.package;
    format!("{package}@{version}")
}

fn folder() -> PathBuf {
    let given = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = || given("XDG_CACHE_HOME").or_else(|| Some(env::home_dir()?.join(".cache")));
    given("PUNCH_AGENTS_CACHE").unwrap_or_else(|| cache().unwrap_or_else(env::temp_dir).join("punch-agents"))
}

fn is_there(folder: &Path, host: TrialAgent) -> bool {
    let (package, version) = host.trial.package;
    let modules = folder.join("node_modules");
    let read = |package: &str| fs::read(modules.join(package).join("package.json")).ok();
    let installed = |package| serde_json::from_slice::<Value>(&read(package)?).ok();
    let node = installed(NODE.0).is_some_and(|node| node["version"].as_str().is_some_and(|v| v.starts_with(NODE.1)));
    let right = installed(package).is_some_and(|found| found["version"] == version);
    right && node && modules.join(".bin").join(host.name()).exists() && modules.join(".bin/node").exists()
}

fn npm(folder: &Path, packages: &[String]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
    // Without a package file npm would look for one further up.
    let own = folder.join("package.json");
    if !own.exists() {
        fs::write(&own, "{}\n").map_err(|cause| format!("{}: {cause}", own.display()))?;
    }
    let mut npm = Command::new("npm");
    npm.current_dir(folder).args(["install", "--no-audit", "--no-fund", "--loglevel", "error", "--save-exact"]);
    npm.args(packages);
    let log = folder.join("npm.log");
    match child::run(&mut npm, LIMIT, &log, &log)? {
        0 => Ok(()),
        code => {
            let said = fs::read_to_string(&log).unwrap_or_default();
            let last: Vec<&str> = said.lines().filter(|line| line.contains("rror")).take(3).collect();
            Err(format!("npm ended with {code}: {}", last.join("; ")))
        }
    }
}
