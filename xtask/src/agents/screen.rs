//! Agents with a screen: prompts and commands are typed into the agent's own terminal program, which runs inside tmux.
//! For what only the user at the keyboard can do, such as `/clear` and `/resume`.

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use punch_testkit::scripted::ScriptedServer;

use super::driven;
use super::hosts::{OUTPUT, TrialAgent};
use super::trial::TrialWiring;
use super::trial_folders::TrialFolders;
use crate::process;

/// How often the screen is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// A screen that has not changed for so long waits for the person. Every agent moves something while it works.
const QUIET: Duration = Duration::from_secs(3);

/// Between the letters and the end of the line: menus of commands appear meanwhile.
const TYPING: Duration = Duration::from_millis(800);

/// How long an agent may take to end after its terminal is gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// Stands for the id of the first conversation of this home.
const FIRST: &str = "${first}";

/// Terminals get names of their own: other scenarios run at the same time.
static TERMINALS: AtomicUsize = AtomicUsize::new(0);

/// Whether terminals can be had on this machine.
pub fn is_possible() -> bool {
    Command::new("tmux").arg("-V").output().is_ok_and(|found| found.status.success())
}

/// Types every prompt, each when the agent has become quiet after the one before. The exit code is the one that is
/// wanted: the agent is ended from outside.
pub fn converse(host: TrialAgent, wiring: &TrialWiring, server: &ScriptedServer) -> Result<i32, String> {
    let end = Instant::now() + wiring.limit;
    let terminal = OwnTerminal::open(host, wiring)?;
    terminal.quiet(end)?;
    for prompt in &wiring.run.prompts {
        let before = answers(server);
        terminal.line(&prompt.replace(FIRST, &first(host, wiring)))?;
        while !prompt.starts_with('/') && answers(server) == before {
            if Instant::now() > end {
                return Err(format!("`{prompt}` never reached the model:\n{}", terminal.screen()?));
            }
            thread::sleep(LOOK);
        }
        terminal.quiet(end)?;
        let _ = fs::write(wiring.place.file(OUTPUT), terminal.screen()?);
    }
    Ok(wiring.run.exit)
}

fn answers(server: &ScriptedServer) -> usize {
    server.report().played.values().sum()
}

/// The id of the first conversation, where the agent writes it down.
fn first(host: TrialAgent, wiring: &TrialWiring) -> String {
    match host.trial.first_conversation {
        Some(find) => find(wiring).unwrap_or_default(),
        None => FIRST.to_owned(),
    }
}

/// A terminal of its own; dropping it ends it with all that runs in it.
struct OwnTerminal<'a> {
    name: String,
    place: &'a TrialFolders,
}

impl<'a> OwnTerminal<'a> {
    fn open(host: TrialAgent, wiring: &TrialWiring<'a>) -> Result<Self, String> {
        let number = TERMINALS.fetch_add(1, Ordering::Relaxed);
        let terminal = Self { name: format!("punch-{}-{number}", std::process::id()), place: wiring.place };
        let mut command = wiring.place.command("tmux");
        command.env_remove("TMUX").envs((host.trial.environment)(wiring)).envs(wiring.env());
        command.args(["-L", &terminal.name, "-f", "/dev/null", "new-session", "-d", "-x", "160", "-y", "50"]);
        let screen = host.trial.screen.ok_or_else(|| format!("no scenario starts {} with its screen", host.name()))?;
        command.args(screen(wiring));
        process::run(&mut command)?;
        Ok(terminal)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-L", &self.name]).args(arguments);
        command
    }

    fn screen(&self) -> Result<String, String> {
        process::read(&mut self.command(&["capture-pane", "-p"]))
    }

    fn line(&self, text: &str) -> Result<(), String> {
        process::run(&mut self.command(&["send-keys", "-l", text]))?;
        thread::sleep(TYPING);
        process::run(&mut self.command(&["send-keys", "Enter"]))
    }

    /// Waits until the screen has something on it and does not change any more.
    fn quiet(&self, end: Instant) -> Result<(), String> {
        let (mut last, mut since) = (String::new(), Instant::now());
        loop {
            let now = self.screen()?;
            if now != last {
                (last, since) = (now, Instant::now());
            }
            if !last.trim().is_empty() && since.elapsed() > QUIET {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(format!("the agent does not come to rest:\n{last}"));
            }
            thread::sleep(LOOK);
        }
    }
}

impl Drop for OwnTerminal<'_> {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).output();
        // Agents get a moment to end by themselves. What they started may lead a group of its own, and some ignore the end
        // of their terminal.
        let end = Instant::now() + PATIENCE;
        loop {
            let left = driven::processes(self.place);
            if left.is_empty() {
                return;
            }
            if Instant::now() > end + PATIENCE {
                return;
            }
            if Instant::now() > end {
                let _ = Command::new("kill").arg("-KILL").args(&left).output();
            }
            thread::sleep(LOOK);
        }
    }
}
