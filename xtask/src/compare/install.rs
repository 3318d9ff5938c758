//! Brings the other tools: from npm, PyPI and Debian by name, each at the version that the page then states.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::bench::tools;
use crate::process;

/// Packages from npm, with the version that the comparison was written for.
const NPM: [(&str, &str); 3] =
    [("task-master-ai", "0.43.1"), ("backlog.md", "1.52.0"), ("mcp-shrimp-task-manager", "1.0.21")];
/// The package from PyPI.
const PYPI: (&str, &str) = ("beads-mcp", "1.3.2");
/// The crate that is built on request.
const BEADS_RUST: (&str, &str) = ("beads_rust", "0.7.6");

/// What can be compared.
pub struct ComparedTools {
    /// Our program.
    pub punch: PathBuf,
    /// Programs of npm packages.
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
            npm: cache.join("npm/node_modules/.bin"),
            beads_mcp: None,
            beads_rust: None,
            versions: vec![("Punchlist".into(), version)],
            missing: Vec::new(),
        };
        found.debian();
        found.npm(&cache.join("npm"));
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

    fn npm(&mut self, folder: &Path) {
        let version = |package: &str| {
            let text = fs::read(folder.join("node_modules").join(package).join("package.json")).ok()?;
            let json: Value = serde_json::from_slice(&text).ok()?;
            Some(json["version"].as_str()?.to_owned())
        };
        let is_there = |(package, wanted): &(&str, &str)| version(package).is_some_and(|found| found == *wanted);
        if !NPM.iter().all(is_there) {
            let _ = fs::create_dir_all(folder);
            // Without a package file npm would look for one further up.
            let _ = fs::write(folder.join("package.json"), "{}\n");
            let mut npm = Command::new("npm");
            npm.current_dir(folder).args(["install", "--no-audit", "--no-fund", "--loglevel", "error", "--save-exact"]);
            npm.args(NPM.map(|(package, version)| format!("{package}@{version}")));
            if let Err(cause) = process::read(&mut npm) {
                println!("    npm: {cause}");
            }
        }
        for ((package, wanted), title) in NPM.iter().zip(["Task Master", "Backlog.md", "Shrimp"]) {
            match version(package) {
                Some(found) => self.versions.push((title.into(), found)),
                None => self.missing.push((title.into(), format!("npm could not install {package}@{wanted}"))),
            }
        }
    }

    fn pypi(&mut self, folder: &Path) {
        let (package, version) = PYPI;
        let program = folder.join("bin/beads-mcp");
        let install = || {
            process::read(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
            let wanted = format!("{package}=={version}");
            process::read(Command::new(folder.join("bin/pip")).args(["install", "--quiet", &wanted]))
        };
        if !program.exists()
            && let Err(cause) = install()
        {
            println!("    pip: {cause}");
        }
        if program.exists() {
            self.beads_mcp = Some(program);
            self.versions.push(("beads-mcp".into(), version.into()));
            let reason = "its program `bd` is downloaded outside of the registries by the npm package `@beads/bd`; \
                          without it, beads-mcp starts and lists its tools, but no call works";
            self.missing.push(("beads (`bd`)".into(), reason.into()));
        } else {
            self.missing.push(("beads-mcp".into(), format!("pip could not install {package}=={version}")));
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

fn cache() -> PathBuf {
    let given = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = || given("XDG_CACHE_HOME").or_else(|| Some(env::home_dir()?.join(".cache")));
    given("PUNCH_COMPARE_CACHE").unwrap_or_else(|| cache().unwrap_or_else(env::temp_dir).join("punch-compare"))
}
