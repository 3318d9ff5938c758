//! A terminal inside tmux: keys go in, the screen comes out.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::process;

/// How often the screen is looked at.
const LOOK: Duration = Duration::from_millis(15);
/// Longer than anything that is not broken, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Terminals get names of their own: others run at the same time.
static TERMINALS: AtomicUsize = AtomicUsize::new(0);

/// Makes sure that tmux is there, and installs it by name where that is possible; false if it cannot be had.
pub fn is_available() -> bool {
    let found = || Command::new("tmux").arg("-V").output().is_ok_and(|found| found.status.success());
    found() || {
        let _ = Command::new("apt-get").args(["install", "-y", "-qq", "tmux"]).output();
        found()
    }
}

/// A terminal; dropping it ends it with all that runs in it.
pub struct Tmux {
    name: String,
}

impl Tmux {
    /// Opens a terminal with a shell in a folder. The environment is a clean one: marks of an agent above would make every
    /// answer be refused.
    pub fn open(size: (u16, u16), folder: &Path, variables: &[(&str, &str)]) -> Result<Self, String> {
        let number = TERMINALS.fetch_add(1, Ordering::Relaxed);
        let terminal = Self { name: format!("punch-board-{}-{number}", std::process::id()) };
        let mut command = terminal.command(&["-f", "/dev/null", "new-session", "-d"]);
        command.args(["-x", &size.0.to_string(), "-y", &size.1.to_string()]).arg("-c").arg(folder);
        command.arg("exec env PS1='$ ' sh");
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env("SHELL", "/bin/sh");
        command.envs(variables.iter().copied());
        process::run(&mut command)?;
        // The size of a window without a client follows the last one that was asked for. Only of this window: tmux 3.3
        // crashes when it opens another one of a size that was never said.
        process::run(&mut terminal.command(&["set-option", "-w", "window-size", "manual"]))?;
        Ok(terminal)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-L", &self.name]).args(arguments);
        command
    }

    /// Types a line into the shell.
    pub fn line(&self, text: &str) -> Result<(), String> {
        process::run(&mut self.command(&["send-keys", "-l", text]))?;
        self.key("Enter")
    }

    /// Presses a key, by tmux's name for it.
    pub fn key(&self, key: &str) -> Result<(), String> {
        process::run(&mut self.command(&["send-keys", key]))
    }

    /// Types text.
    pub fn text(&self, text: &str) -> Result<(), String> {
        process::run(&mut self.command(&["send-keys", "-l", text]))
    }

    /// Gives the terminal another size.
    pub fn resize(&self, columns: u16, rows: u16) -> Result<(), String> {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        process::run(&mut self.command(&["resize-window", "-x", &columns, "-y", &rows]))
    }

    /// What is on the screen.
    pub fn screen(&self) -> Result<String, String> {
        process::read(&mut self.command(&["capture-pane", "-p"]))
    }

    /// What is on the screen, with the escapes of its colors.
    pub fn colored_screen(&self) -> Result<String, String> {
        process::read(&mut self.command(&["capture-pane", "-p", "-e"]))
    }

    /// Waits until the screen is as wanted, and returns how long that took.
    pub fn wait(&self, what: &str, is_wanted: impl Fn(&str) -> bool) -> Result<Duration, String> {
        let begin = Instant::now();
        loop {
            let screen = self.screen()?;
            if is_wanted(&screen) {
                return Ok(begin.elapsed());
            }
            if begin.elapsed() > PATIENCE {
                return Err(format!("{what}: not on the screen after {} s:\n{screen}", PATIENCE.as_secs()));
            }
            thread::sleep(LOOK);
        }
    }

    /// Waits until a text is on the screen.
    pub fn wait_for(&self, text: &str) -> Result<Duration, String> {
        self.wait(&format!("`{text}`"), |screen| screen.contains(text))
    }

    /// Waits until a text is gone from the screen.
    pub fn wait_until_gone(&self, text: &str) -> Result<Duration, String> {
        self.wait(&format!("no `{text}`"), |screen| !screen.contains(text))
    }

    /// The numbers of the processes that the shell of the terminal has started.
    pub fn children(&self) -> Result<Vec<u32>, String> {
        let shell = process::read(&mut self.command(&["display-message", "-p", "#{pane_pid}"]))?;
        let children = Command::new("ps").args(["-o", "pid=", "--ppid", shell.trim()]).output();
        let children = children.map_err(|cause| cause.to_string())?;
        let text = String::from_utf8_lossy(&children.stdout).into_owned();
        Ok(text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect())
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).output();
    }
}
