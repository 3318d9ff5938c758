//! Brings the other tools: from npm, PyPI and Debian by name, each at the version that the page then states.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::bench::tools;
use crate::process;

/// A package from npm.
struct NpmPackage {
    title: &'static str,
    name: &'static str,
    /// The version that the comparison was written for.
    version: &'static str,
    /// The oldest node that it runs with.
    node: u32,
}

/// Our own name in every table.
pub const OWN: &str = "Punchlist";

const NPM: [NpmPackage; 3] = [
    NpmPackage { title: "Task Master", name: "task-master-ai", version: "0.43.1", node: 20 },
    NpmPackage { title: "Backlog.md", name: "backlog.md", version: "1.52.0", node: 18 },
    NpmPackage { title: "Shrimp", name: "mcp-shrimp-task-manager", version: "1.0.21", node: 18 },
];
/// The package from PyPI.
const PYPI: (&str, &str) = ("beads-mcp", "1.3.2");
/// The crate that is built on request.
const BEADS_RUST: (&str, &str) = ("beads_rust", "0.7.6");

/// The longest that npm or pip may take for a package.
const INSTALLING: Duration = Duration::from_secs(900);

/// What can be compared.
pub struct ComparedTools {
    /// Our program.
    pub punch: PathBuf,
    /// The folder with one folder for each npm package.
    pub npm: PathBuf,
    /// `beads-mcp`.
    pub beads_mcp: Option<PathBuf>,
    /// `br` of beads_rust.
    pub beads_rust: Option<PathBuf>,
    /// Names and versions, ours first.
    pub versions: Vec<(String, String)>,
    /// Tools that could not be installed, with the reason.
    pub missing: Vec<(String, String)>,
}

impl ComparedTools {
    /// Installs what is missing. A tool that cannot be had is left out and reported.
    pub fn find(punch: &Path, with_beads_rust: bool) -> Result<Self, String> {
        let cache = cache();
        fs::create_dir_all(&cache).map_err(|cause| format!("cannot make {}: {cause}", cache.display()))?;
        let version = process::read(Command::new(punch).arg("--version"))?;
        let version = version.split_whitespace().last().unwrap_or("unknown").to_owned();
        let mut found = Self {
            punch: punch.to_owned(),
            npm: cache.join("npm"),
            beads_mcp: None,
            beads_rust: None,
            versions: vec![(OWN.into(), version)],
            missing: Vec::new(),
        };
        found.debian();
        found.npm_packages();
        found.pypi(&cache.join("beads-mcp"));
        found.crates(&cache.join("beads_rust"), with_beads_rust);
        Ok(found)
    }

    /// Returns true if a tool is there.
    pub fn has(&self, tool: &str) -> bool {
        self.versions.iter().any(|(name, _)| name == tool)
    }

    fn debian(&mut self) {
        match tools::install("task", "taskwarrior") {
            Ok(()) => {
                let version = process::read(Command::new("task").arg("--version")).unwrap_or_default();
                self.versions.push(("Taskwarrior".into(), version.trim().to_owned()));
            }
            Err(cause) => self.missing.push(("Taskwarrior".into(), cause)),
        }
    }

    /// The folder with the programs of a tool from npm; for others it does not exist.
    pub fn programs(&self, tool: &str) -> PathBuf {
        let name = NPM.iter().find(|package| package.title == tool).map_or(tool, |package| package.name);
        self.npm.join(name).join("node_modules/.bin")
    }

    /// Installs each package in a folder of its own, so that one that fails does not take the others with it.
    fn npm_packages(&mut self) {
        let node = process::read(Command::new("node").arg("--version"));
        for package in &NPM {
            let installed =
                node.clone().and_then(|node| new_enough(&node, package.node)).and_then(|()| self.npm(package));
            match installed {
                Ok(version) => self.versions.push((package.title.into(), version)),
                Err(cause) => {
                    let cause = super::first_line(&cause);
                    self.missing.push((package.title.into(), format!("{}@{}: {cause}", package.name, package.version)));
                }
            }
        }
    }

    fn npm(&self, package: &NpmPackage) -> Result<String, String> {
        let folder = self.npm.join(package.name);
        let version = || {
            let text = fs::read(folder.join("node_modules").join(package.name).join("package.json")).ok()?;
            let json: Value = serde_json::from_slice(&text).ok()?;
            Some(json["version"].as_str()?.to_owned())
        };
        if version().is_none_or(|found| found != package.version) {
            let wrong = |cause: std::io::Error| format!("{}: {cause}", folder.display());
            fs::create_dir_all(&folder).map_err(wrong)?;
            // Without a package file npm would look for one further up.
            fs::write(folder.join("package.json"), "{}\n").map_err(wrong)?;
            let mut npm = Command::new("npm");
            npm.current_dir(&folder);
            npm.args(["install", "--no-audit", "--no-fund", "--loglevel", "error", "--save-exact"]);
            process::read_within(INSTALLING, npm.arg(format!("{}@{}", package.name, package.version)))?;
        }
        version().ok_or_else(|| "npm installed nothing".to_owned())
    }

    fn pypi(&mut self, folder: &Path) {
        let (package, version) = PYPI;
        let program = folder.join("bin/beads-mcp");
        let install = || {
            // Debian has this module of Python in a package of its own.
            let has_venv = || process::read(Command::new("python3").args(["-c", "import ensurepip"])).is_ok();
            tools::install_unless("python3 -m venv", "python3-venv", has_venv)?;
            process::read(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
            let wanted = format!("{package}=={version}");
            process::read_within(INSTALLING, Command::new(folder.join("bin/pip")).args(["install", "--quiet", &wanted]))
        };
        let installed = if program.exists() { Ok(String::new()) } else { install() };
        if program.exists() {
            self.beads_mcp = Some(program);
            self.versions.push(("beads-mcp".into(), version.into()));
            let reason = "its program `bd` is downloaded outside of the registries by the npm package `@beads/bd`; \
                          without it, beads-mcp starts and lists its tools, but no call works";
            self.missing.push(("beads (`bd`)".into(), reason.into()));
        } else {
            let cause = installed.err().unwrap_or_else(|| "pip installed no program".to_owned());
            self.missing.push(("beads-mcp".into(), format!("{package}=={version}: {}", super::first_line(&cause))));
        }
    }

    fn crates(&mut self, folder: &Path, wanted: bool) {
        let (package, version) = BEADS_RUST;
        let program = folder.join("bin/br");
        if wanted && !program.exists() {
            println!("    building {package} {version}");
            let mut cargo = process::cargo();
            cargo.args(["install", package, "--version", version, "--locked", "--quiet", "--root"]).arg(folder);
            // In a folder without the settings of this workspace.
            if let Err(cause) = process::read(cargo.current_dir(env::temp_dir())) {
                println!("    cargo: {cause}");
            }
        }
        if program.exists() {
            self.beads_rust = Some(program);
            self.versions.push(("beads_rust".into(), version.into()));
        } else {
            let reason =
                if wanted { "cargo could not build it" } else { "left out: it is built with `--with-beads-rust`" };
            self.missing.push(("beads_rust".into(), reason.into()));
        }
    }
}

/// Fails if node is older than a package needs: npm would install the package all the same.
fn new_enough(node: &str, least: u32) -> Result<(), String> {
    let major = node.trim().trim_start_matches('v').split('.').next().and_then(|number| number.parse::<u32>().ok());
    match major {
        Some(major) if major >= least => Ok(()),
        _ => Err(format!("needs node {least} or newer, and this is {}", node.trim())),
    }
}

fn cache() -> PathBuf {
    let given = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = || given("XDG_CACHE_HOME").or_else(|| Some(env::home_dir()?.join(".cache")));
    given("PUNCH_COMPARE_CACHE").unwrap_or_else(|| cache().unwrap_or_else(env::temp_dir).join("punch-compare"))
}

#[cfg(test)]
mod tests {
    use super::new_enough;

    #[test]
    fn packages_that_need_a_newer_node_are_left_out() {
        assert_eq!(new_enough("v20.20.2\n", 20), Ok(()));
        assert_eq!(new_enough("v18.19.0\n", 20), Err("needs node 20 or newer, and this is v18.19.0".to_owned()));
    }
}
