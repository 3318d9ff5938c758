//! Where the soak happens: projects with stores of their own, and `punch` in them with a clean environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use punch_testkit::random::Random;

use super::journal::TryOutcome;
use crate::process;

/// Of a hundred processes, how many are killed.
const KILLED: u64 = 12;

/// Of a hundred processes, how many are stopped for a while where that is tried.
const STOPPED: u64 = 6;

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
    /// What is tried on the clients of that server.
    pub trouble: Trouble,
}

/// What happens to clients, besides being killed.
#[derive(Clone, Debug, Default)]
pub struct Trouble {
    /// The library that gives processes a wrong clock.
    pub wrong_clock: Option<PathBuf>,
    /// Processes are stopped for a while, some of them inside a transaction.
    pub stops: bool,
}

/// How a process ended.
pub struct ProcessEnd {
    /// Its exit code; `None` if it was killed before its end.
    pub code: Option<i32>,
    /// What it answered, if the answer is whole and no refusal.
    pub answer: Option<Value>,
    /// What it said on standard error.
    pub complaint: String,
    /// What that means for what it was asked to do.
    pub outcome: TryOutcome,
    /// When it was started.
    pub asked: Instant,
    /// When it had ended.
    pub answered: Instant,
}

/// What a disturbed process goes through.
#[derive(Clone, Copy, Debug)]
pub enum ProcessFate {
    /// It is left alone.
    Spared,
    /// It is killed after this time.
    Killed(Duration),
    /// It is stopped after this time for some seconds.
    Stopped(Duration),
}

impl SoakPlan {
    /// A place in a folder that exists. `home` holds settings and state.
    pub fn new(punch: &Path, home: &Path, folder: &Path, plan: &'static str) -> Self {
        let (punch, home, folder) = (punch.to_owned(), home.to_owned(), folder.to_owned());
        Self { punch, home, folder, plan, server: None, trouble: Trouble::default() }
    }

    /// Returns this place with its plan on a server, in a project that has the name of the folder.
    pub fn on_server(self, server: Option<(&str, &Trouble)>) -> Self {
        let trouble = server.map(|(_, trouble)| trouble.clone()).unwrap_or_default();
        Self { server: server.map(|(address, _)| address.to_owned()), trouble, ..self }
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
    pub fn act(&self, mut command: Command, random: &mut Random) -> Result<ProcessEnd, String> {
        let asked = Instant::now();
        let child = command.spawn().map_err(|cause| format!("cannot start punch: {cause}"))?;
        end(child, asked, self.fate(random))
    }

    /// Decides what a process goes through.
    pub fn fate(&self, random: &mut Random) -> ProcessFate {
        let mut moment = || Duration::from_micros(random.below(60_000));
        let (killed, stopped) = (moment(), moment());
        match random.below(100) {
            0..KILLED => ProcessFate::Killed(killed),
            n if n < KILLED + STOPPED && self.trouble.stops => ProcessFate::Stopped(stopped),
            _ => ProcessFate::Spared,
        }
    }

    /// Gives a process a clock that is wrong by some hours.
    pub fn set_clock(&self, command: &mut Command, hours: i64) {
        if let Some(library) = self.trouble.wrong_clock.as_ref().filter(|_| hours != 0) {
            command.env("LD_PRELOAD", library).env("FAKETIME", format!("{hours:+}h"));
            command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").env("NO_FAKE_STAT", "1");
        }
    }
}

/// How long a stopped process stays stopped.
const STOP: Duration = Duration::from_secs(2);

/// Sends a signal to a process.
pub fn signal(name: &str, process: &str) {
    let _ = Command::new("kill").args([&format!("-{name}"), process]).stderr(Stdio::null()).status();
}

/// Waits for the end of a process that was started at `asked`, and does to it what its fate says.
pub fn end(mut child: Child, asked: Instant, fate: ProcessFate) -> Result<ProcessEnd, String> {
    match fate {
        ProcessFate::Spared => {}
        ProcessFate::Killed(moment) => {
            thread::sleep(moment);
            let _ = child.kill();
        }
        ProcessFate::Stopped(moment) => {
            let process = child.id().to_string();
            thread::sleep(moment);
            signal("STOP", &process);
            thread::sleep(STOP);
            signal("CONT", &process);
        }
    }
    let output = child.wait_with_output().map_err(|cause| cause.to_string())?;
    // Killed or not: an answer that is out is a promise.
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer: Option<Value> = if printed.ends_with('\n') { serde_json::from_str(&printed).ok() } else { None };
    let complaint = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    let refusal = answer.as_ref().and_then(|answer| answer["error"]["code"].as_str().map(str::to_owned));
    let answer = answer.filter(|answer| answer.get("error").is_none());
    let outcome = outcome_of(answer.is_some(), refusal.as_deref());
    Ok(ProcessEnd { code: output.status.code(), answer, complaint, outcome, asked, answered: Instant::now() })
}

/// What an answer or the code of a refusal says about the change that was asked for.
pub fn outcome_of(is_answered: bool, refusal: Option<&str>) -> TryOutcome {
    match refusal {
        _ if is_answered => TryOutcome::Acknowledged,
        Some("store_unsure") | None => TryOutcome::Unknown,
        Some(_) => TryOutcome::Refused,
    }
}

/// Makes an empty project; with `git`, a repository, so that the store lies inside `.git`.
pub fn project(folder: &Path, git: bool) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
    if git {
        process::run(process::command("git").args(["init", "-q"]).arg(folder))?;
    }
    Ok(())
}
