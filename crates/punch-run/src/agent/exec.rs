//! `exec:CMD`: any program. It gets the prompt on its standard input and says with its exit code whether it is done.

use std::io::{self, Write};
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use punch_core::text;
use punch_engine::process::{GuardedChild, shell};

use super::{Agent, Assignment, Event, Finish, Lines, Out, Running, Sink};

/// Bytes of a line that are shown to people.
const SHOWN: usize = 400;

/// A program as an agent.
#[derive(Clone, Debug)]
pub(super) struct Exec {
    command: String,
}

impl Exec {
    /// Runs a line of the shell.
    pub fn new(command: &str) -> Self {
        Self { command: command.to_owned() }
    }
}

impl Agent for Exec {
    fn start(&self, assignment: &Assignment, sink: Sink) -> io::Result<Box<dyn Running>> {
        let mut command = shell(&self.command);
        assignment.prepare(&mut command);
        begin(command, &assignment.prompt, &assignment.log, sink)
    }
}

fn begin(mut command: std::process::Command, prompt: &str, log: &Path, sink: Sink) -> io::Result<Box<dyn Running>> {
    let out = Out::open(log)?;
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::piped()).stdout(writer.try_clone()?).stderr(writer);
    let mut kept = GuardedChild::start(&mut command)?;
    // The command holds our ends for writing: else the output would never end.
    drop(command);
    let input = kept.stdin();
    let wait = kept.waiter();
    let running = Arc::new(Mutex::new(kept));
    feed(input, prompt.to_owned())?;
    let (shown, printed) = (sink.clone(), out.clone());
    thread::Builder::new().name("agent-output".into()).spawn(move || {
        for line in Lines::new(reader, out).limited(SHOWN) {
            if !line.trim().is_empty() {
                shown.report(Event::Text(text::neutral(&line).into_owned()));
            }
        }
    })?;
    let ended = running.clone();
    thread::Builder::new().name("agent".into()).spawn(move || {
        let held = || ended.lock().unwrap_or_else(PoisonError::into_inner);
        wait();
        while !held().has_ended() {
            wait();
        }
        // Whatever it left behind goes with it: nothing would read or end that later.
        let code = held().end();
        let finish = match code {
            Some(0) => Finish::Natural,
            Some(code) => Finish::Failed(format!("exit code {code}")),
            None => Finish::Failed("it does not end".to_owned()),
        };
        sink.report(Event::TurnEnded { finish });
        sink.report(Event::Exited { code });
    })?;
    Ok(Box::new(Started { running, printed }))
}

/// On a thread of its own: a program that does not read its input would stop us.
fn feed(input: Option<ChildStdin>, prompt: String) -> io::Result<()> {
    let Some(mut input) = input else { return Ok(()) };
    thread::Builder::new().name("agent-input".into()).spawn(move || {
        // One that ends without reading is not an error.
        let _ = input.write_all(prompt.as_bytes());
    })?;
    Ok(())
}

struct Started {
    running: Arc<Mutex<GuardedChild>>,
    printed: Out,
}

impl Started {
    fn kept(&self) -> std::sync::MutexGuard<'_, GuardedChild> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running for Started {
    fn say(&mut self, _prompt: &str) -> io::Result<bool> {
        Ok(false)
    }

    fn answer(&mut self, _request: &str, _option: Option<&str>) -> io::Result<()> {
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

impl Drop for Started {
    fn drop(&mut self) {
        self.kill();
    }
}
