//! Where the soak happens: projects with stores of their own, and `punch` in them with a clean environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::random::Random;
use crate::process;

/// Of a hundred processes, how many are killed.
const KILLED: u64 = 12;

/// One plan of one project.
#[derive(Clone, Debug)]
pub struct SoakPlan {
    punch: PathBuf,
    home: PathBuf,
    /// The project.
    pub folder: PathBuf,
    /// The name of the plan.
    pub plan: &'static str,
    /// The address of the server that has the plan; `None` for a store in a file.
    pub server: Option<String>,
}

/// How a process ended.
pub struct Ended {
    /// Its exit code; `None` if it was killed before its end.
    pub code: Option<i32>,
    /// What it answered, if the answer is whole and no refusal.
    pub answer: Option<Value>,
    /// What it said on standard error.
    pub complaint: String,
}

impl SoakPlan {
    /// A place in a folder that exists. `home` holds settings and state.
    pub fn new(punch: &Path, home: &Path, folder: &Path, plan: &'static str) -> Self {
        Self { punch: punch.to_owned(), home: home.to_owned(), folder: folder.to_owned(), plan, server: None }
    }

    /// Returns this place with its plan on a server, in a project that has the name of the folder.
    pub fn on_server(self, server: Option<&str>) -> Self {
        Self { server: server.map(str::to_owned), ..self }
    }

    /// `punch` in the project, on the plan.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.punch);
        command.args(arguments).current_dir(&self.folder).env_clear().env("HOME", &self.home);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("PUNCH_PLAN", self.plan);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(server) = &self.server {
            let project = self.folder.file_name().unwrap_or_default();
            command.env("PUNCH_STORE", server).env("PUNCH_PROJECT", project);
        }
        command
    }

    /// Runs a command that must succeed; what it printed.
    pub fn read(&self, arguments: &[&str]) -> Result<String, String> {
        process::read(&mut self.command(arguments))
    }

    /// Runs a command to its end, or kills it at a random moment.
    pub fn act(&self, mut command: Command, random: &mut Random) -> Result<Ended, String> {
        let child = command.spawn().map_err(|cause| format!("cannot start punch: {cause}"))?;
        let moment = random.percent(KILLED).then(|| Duration::from_micros(random.below(60_000)));
        end(child, moment)
    }
}

/// Waits for the end, or kills at the moment.
pub fn end(mut child: Child, moment: Option<Duration>) -> Result<Ended, String> {
    if let Some(moment) = moment {
        thread::sleep(moment);
        let _ = child.kill();
    }
    let output = child.wait_with_output().map_err(|cause| cause.to_string())?;
    // Killed or not: an answer that is out is a promise.
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer: Option<Value> = if printed.ends_with('\n') { serde_json::from_str(&printed).ok() } else { None };
    let complaint = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    let answer = answer.filter(|answer| answer.get("error").is_none());
    Ok(Ended { code: output.status.code(), answer, complaint })
}

/// Makes an empty project; with `git`, a repository, so that the store lies inside `.git`.
pub fn project(folder: &Path, git: bool) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
    if git {
        process::run(process::command("git").args(["init", "-q"]).arg(folder))?;
    }
    Ok(())
}
