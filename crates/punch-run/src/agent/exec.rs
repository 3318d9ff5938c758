//! `exec:CMD`: any program. It gets the prompt on its standard input and says with its exit code whether it is done.

use std::io::{self, Write};
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use punch_agents::UsageLimit;
use punch_core::text;
use punch_engine::config::Settings;
use punch_engine::process::{GuardedChild, shell};

use super::{AgentEvent, AgentProgram, AgentStart, AgentTurnEnd, Out, RunningAgent, Sink, StreamLines};

/// Bytes of a line that are shown to people.
const SHOWN: usize = 400;

/// After its end, what it printed is awaited for so long: a process that cannot be ended may hold the pipe.
const GRACE: Duration = Duration::from_secs(2);

/// A program as an agent.
#[derive(Clone, Debug)]
pub(super) struct ExecAgent {
    command: String,
    limits: LimitSigns,
}

/// How a program of the user reports that its usage limit is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitSigns {
    /// The exit code that means it; `None` for none.
    pub exit_code: Option<i32>,
    /// A part of a printed line that means it when the program fails, in lower case. The texts of known agents count too.
    pub text: Option<String>,
}

impl LimitSigns {
    /// Returns the signs that the settings name.
    pub fn of(settings: &Settings) -> Self {
        Self {
            exit_code: i32::try_from(settings.run_limit_exit.value).ok().filter(|code| *code > 0),
            text: settings.run_limit_text.value.as_ref().map(|text| text.to_lowercase()),
        }
    }

    /// Returns the limit that a printed line reports.
    fn in_line(&self, line: &str) -> Option<UsageLimit> {
        match &self.text {
            Some(text) if line.to_lowercase().contains(text) => Some(UsageLimit::of(line)),
            _ => UsageLimit::of_any_agent(line),
        }
    }

    /// Returns how a turn ended, given the exit code, the last line and the limit that was printed last.
    fn finish(&self, code: Option<i32>, printed: ExecOutput) -> AgentTurnEnd {
        match (code, printed.limit) {
            (Some(0), _) => AgentTurnEnd::Natural,
            (Some(_), Some(limit)) => AgentTurnEnd::UsageLimit(limit),
            (Some(code), None) => {
                let last = Some(printed.last).filter(|line| !line.is_empty());
                match self.exit_code == Some(code) {
                    true => {
                        AgentTurnEnd::UsageLimit(UsageLimit::of(&last.unwrap_or_else(|| format!("exit code {code}"))))
                    }
                    false => AgentTurnEnd::Failed(
                        std::iter::once(format!("exit code {code}")).chain(last).collect::<Vec<_>>().join(": "),
                    ),
                }
            }
            (None, _) => AgentTurnEnd::Failed("it could not be ended".to_owned()),
        }
    }
}

/// The parts of a program's output that its result depends on.
#[derive(Debug, Default)]
struct ExecOutput {
    last: String,
    limit: Option<UsageLimit>,
}

impl ExecAgent {
    /// Runs a line of the shell.
    pub fn new(command: &str, limits: LimitSigns) -> Self {
        Self { command: command.to_owned(), limits }
    }
}

impl AgentProgram for ExecAgent {
    fn start(&self, assignment: &AgentStart, sink: Sink) -> io::Result<Box<dyn RunningAgent>> {
        find(&self.command, &assignment.folder)?;
        let mut command = shell(&self.command);
        assignment.prepare(&mut command);
        begin(command, assignment, sink, self.limits.clone())
    }
}

/// Refuses a command whose program is named by its path and is not there. The shell would report that as the exit code of
/// an attempt that failed.
fn find(command: &str, folder: &Path) -> io::Result<()> {
    let program = command.split_whitespace().next().unwrap_or_default();
    let is_path = program.contains('/') && program.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-+".contains(&b));
    match is_path && !folder.join(program).exists() {
        true => Err(io::Error::new(io::ErrorKind::NotFound, format!("no such file: {program}"))),
        false => Ok(()),
    }
}

fn begin(
    mut command: std::process::Command,
    assignment: &AgentStart,
    sink: Sink,
    limits: LimitSigns,
) -> io::Result<Box<dyn RunningAgent>> {
    let out = Out::open(&assignment.log)?;
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::piped()).stdout(writer.try_clone()?).stderr(writer);
    let mut kept = GuardedChild::start(&mut command)?;
    // The command holds our ends for writing: else the output would never end.
    drop(command);
    let input = kept.stdin();
    let wait = kept.waiter();
    let running = Arc::new(Mutex::new(kept));
    feed(input, assignment.prompt.clone())?;
    let (shown, printed) = (sink.clone(), out.clone());
    let (read, all_read) = channel::<ExecOutput>();
    let signs = limits.clone();
    thread::Builder::new().name("agent-output".into()).spawn(move || {
        let mut printed = ExecOutput::default();
        for line in StreamLines::new(reader, out).limited(SHOWN).filter(|line| !line.trim().is_empty()) {
            printed.limit = signs.in_line(&line).or(printed.limit);
            shown.report(AgentEvent::Text(text::neutral(&line).into_owned()));
            printed.last = line;
        }
        // Without a receiver its end was already reported.
        let _ = read.send(printed);
    })?;
    let ended = running.clone();
    thread::Builder::new().name("agent".into()).spawn(move || {
        let held = || ended.lock().unwrap_or_else(PoisonError::into_inner);
        wait();
        while !held().has_ended() {
            wait();
        }
        // Processes that it left behind are killed with it, because nothing would read or stop them later.
        let code = held().end();
        let finish = limits.finish(code, all_read.recv_timeout(GRACE).unwrap_or_default());
        sink.report(AgentEvent::TurnEnded { finish });
        sink.report(AgentEvent::Exited { code });
    })?;
    Ok(Box::new(ExecProcess { running, printed }))
}

/// On a separate thread, because a program that does not read its input would block us.
fn feed(input: Option<ChildStdin>, prompt: String) -> io::Result<()> {
    let Some(mut input) = input else { return Ok(()) };
    thread::Builder::new().name("agent-input".into()).spawn(move || {
        // One that ends without reading is not an error.
        let _ = input.write_all(prompt.as_bytes());
    })?;
    Ok(())
}

struct ExecProcess {
    running: Arc<Mutex<GuardedChild>>,
    printed: Out,
}

impl ExecProcess {
    fn kept(&self) -> std::sync::MutexGuard<'_, GuardedChild> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningAgent for ExecProcess {
    fn say(&mut self, _prompt: &str) -> io::Result<bool> {
        Ok(false)
    }

    fn answer(&mut self, _request: &str, _option: Option<&str>, _reason: Option<&str>) -> io::Result<()> {
        Ok(())
    }

    fn cancel(&mut self) {
        self.kept().ask_to_end();
    }

    fn kill(&mut self) {
        self.kept().end();
    }

    fn tend(&mut self) {
        self.kept().renew_guard();
    }

    fn printed(&self) -> Instant {
        self.printed.printed()
    }

    fn pid(&self) -> u32 {
        self.kept().id()
    }
}

impl Drop for ExecProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use punch_agents::Reset;

    use super::*;

    #[test]
    fn only_a_path_that_leads_nowhere_is_refused() {
        let folder = Path::new("/");
        let missing = find("/nonexistent/agent --fast", folder).map_err(|error| error.to_string());
        assert_eq!(missing, Err("no such file: /nonexistent/agent".to_owned()));
        for command in ["/bin/sh -c true", "bin/sh", "agent", "$HOME/agent", "test -e /nonexistent/agent", ""] {
            assert!(find(command, folder).is_ok(), "{command}");
        }
    }

    #[test]
    fn a_program_reports_its_usage_limit_by_exit_code_or_by_what_it_prints() {
        let signs = LimitSigns { exit_code: Some(75), text: Some("come back later".into()) };
        let finish = |code: i32, lines: &[&str]| {
            let limit = lines.iter().rev().find_map(|line| signs.in_line(line));
            let last = lines.last().copied().unwrap_or_default().to_owned();
            signs.finish(Some(code), ExecOutput { last, limit })
        };
        let limited = |message: &str, reset| AgentTurnEnd::UsageLimit(UsageLimit { message: message.into(), reset });
        let hour = Reset::After(Duration::from_secs(3_600));
        assert_eq!(finish(75, &["busy, try again in 1 hour"]), limited("busy, try again in 1 hour", hour));
        assert_eq!(finish(75, &[]), limited("exit code 75", Reset::Unknown));
        assert_eq!(finish(1, &["Come back later", "bye"]), limited("Come back later", Reset::Unknown));
        let known = "Claude AI usage limit reached|1749924000";
        assert_eq!(finish(1, &[known]), limited(known, Reset::At(1_749_924_000_000)));
        // What counts first is that the program is done.
        assert_eq!(finish(0, &[known]), AgentTurnEnd::Natural);
        assert_eq!(finish(1, &["no network"]), AgentTurnEnd::Failed("exit code 1: no network".into()));
    }
}
