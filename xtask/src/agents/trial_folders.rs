//! A folder for one scenario with one agent: a home, a repository, and everything that was written down.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::TrialSetup;
use crate::process;

/// Variables that would let the agent find the person's own settings, or believe that it runs inside another agent.
const STRANGERS: [&str; 15] = [
    "PUNCH",
    "GIT_",
    "CLAUDE",
    "ANTHROPIC",
    "CODEX",
    "OPENAI",
    "OPENCODE",
    "GEMINI",
    "GOOGLE",
    "QWEN",
    "COPILOT",
    "FACTORY",
    "XDG_",
    "CARGO_",
    "RUST",
];

/// The folders of a run.
pub struct TrialFolders {
    /// All of it.
    pub root: PathBuf,
    /// The agent's home.
    pub home: PathBuf,
    /// The repository that it works in.
    pub repo: PathBuf,
    /// The program under test.
    pub punch: PathBuf,
    /// What OpenCode needs in its home.
    pub plugin: PathBuf,
    /// The programs that let agents speak the Agent Client Protocol.
    pub adapters: PathBuf,
    bin: PathBuf,
    path: String,
}

impl TrialFolders {
    /// Makes an empty one.
    pub fn make(root: PathBuf, tested: &TrialSetup) -> Result<Self, String> {
        let fail = |path: &Path, cause: std::io::Error| format!("{}: {cause}", path.display());
        let _ = fs::remove_dir_all(&root);
        let (home, repo) = (root.join("home"), root.join("repo"));
        for folder in [&home, &repo] {
            fs::create_dir_all(folder).map_err(|cause| fail(folder, cause))?;
        }
        // Files that a team commits call punch by its name.
        let tools = root.join("tools");
        fs::create_dir_all(&tools).map_err(|cause| fail(&tools, cause))?;
        let (named, program) = (tools.join("punch"), tested.punch.canonicalize());
        let program = program.map_err(|cause| fail(&tested.punch, cause))?;
        #[cfg(unix)]
        std::os::unix::fs::symlink(&program, &named).map_err(|cause| fail(&named, cause))?;
        #[cfg(not(unix))]
        fs::copy(&program, named.with_extension("exe")).map_err(|cause| fail(&named, cause))?;
        let path = env::var("PATH").unwrap_or_default();
        let path = format!("{}:{}:{path}", tools.display(), tested.found.bin.display());
        let place = Self {
            punch: tested.punch.clone(),
            plugin: tested.found.plugin.clone(),
            adapters: tested.found.adapters.clone(),
            bin: tested.found.bin.clone(),
            root,
            home,
            repo,
            path,
        };
        process::read(place.command("git").args(["init", "--quiet"]))?;
        let name = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        let commit = ["commit", "--quiet", "--allow-empty", "--message", "init"];
        process::read(place.command("git").args(name).args(commit))?;
        Ok(place)
    }

    /// A file that keeps something of the run.
    pub fn file(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The program of an agent.
    pub fn program(&self, name: &str) -> String {
        self.bin.join(name).display().to_string()
    }

    /// What git prints in the repository; it must succeed.
    pub fn git(&self, arguments: &[&str]) -> Result<String, String> {
        process::read(self.command("git").args(arguments))
    }

    /// Writes a file below the home.
    pub fn configure(&self, path: &str, text: &str) -> Result<(), String> {
        let path = self.home.join(path);
        let fail = |cause: std::io::Error| format!("{}: {cause}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(fail)?;
        }
        fs::write(&path, text).map_err(fail)
    }

    /// A program in the repository that knows only this home.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.repo);
        for (name, _) in env::vars_os() {
            if name.to_str().is_some_and(|name| STRANGERS.iter().any(|stranger| name.starts_with(stranger))) {
                command.env_remove(name);
            }
        }
        // OpenCode fetches a package by itself: as this machine's npm would.
        if let Some(settings) = env::home_dir().map(|home| home.join(".npmrc")).filter(|file| file.exists()) {
            command.env("NPM_CONFIG_USERCONFIG", settings);
        }
        // Folders above are none of the agent's business.
        command.env("GIT_CEILING_DIRECTORIES", &self.root);
        command.env("HOME", &self.home).env("PATH", &self.path).env("NO_BROWSER", "1");
        command
    }

    /// Runs punch in the repository; it must succeed.
    pub fn punch(&self, arguments: &[&str]) -> Result<String, String> {
        process::read(self.command(&self.punch.to_string_lossy()).args(arguments))
    }

    /// What punch answers as JSON.
    pub fn ask(&self, arguments: &[&str]) -> Result<Value, String> {
        let text = self.punch(&[arguments, &["--json"]].concat())?;
        serde_json::from_str(&text).map_err(|cause| format!("punch {}: {cause}: {text}", arguments.join(" ")))
    }

    /// Gone, with everything in it.
    pub fn remove(self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
