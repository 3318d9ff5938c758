//! A host that exchanges lines of JSON on its pipes: starts it, reads each line, and answers. The listener decides what
//! a line means.

use std::io::{self, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use punch_agents::headless::AgentListener;
use punch_engine::process::GuardedChild;

use super::{AgentEvent, AgentStart, Out, RunningAgent, Sink, StreamLines};

/// Lines that may wait until the host reads them. One that reads none of `n` is not listening.
const WAITING: usize = 256;
/// After the end of the host, what it printed is awaited for so long: a process that cannot be ended may hold the pipe.
const GRACE: Duration = Duration::from_secs(2);

/// A host at work, as its threads know it.
#[derive(Clone)]
struct HostProcess {
    kept: Arc<Mutex<GuardedChild>>,
    listener: Arc<Mutex<Box<dyn AgentListener>>>,
    input: HostInput,
    out: Out,
}

/// The way to the host's input; empty once that is closed.
type HostInput = Arc<Mutex<Option<SyncSender<String>>>>;

/// A program with arguments of ours. Words that the user gave come first, as a shell reads them.
pub(super) fn program(name: &str, given: &str, arguments: &[String]) -> Command {
    let mut command = match given {
        "" => Command::new(name),
        given if cfg!(unix) => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(format!("{given} \"$@\"")).arg(name);
            shell
        }
        given => Command::new(given),
    };
    command.args(arguments);
    command
}

/// Starts a host on an assignment.
pub(super) fn start(
    mut command: Command,
    assignment: &AgentStart,
    sink: Sink,
    mut listener: Box<dyn AgentListener>,
) -> io::Result<Box<dyn RunningAgent>> {
    let out = Out::open(&assignment.log)?;
    assignment.prepare(&mut command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut kept = GuardedChild::start(&mut command)?;
    let (stdin, stdout, stderr) = (kept.stdin(), kept.stdout(), kept.stderr());
    let wait = kept.waiter();
    let input: HostInput = Arc::new(Mutex::new(stdin.map(writer).transpose()?));
    let first = listener.begin();
    let stays = listener.converses();
    let host = HostProcess {
        kept: Arc::new(Mutex::new(kept)),
        listener: Arc::new(Mutex::new(listener)),
        input,
        out: out.clone(),
    };
    host.send(first);
    if !stays {
        host.close();
    }
    let (read, all_read) = channel::<()>();
    if let Some(stderr) = stderr {
        let (complaints, heard) = (out.aside(), read.clone());
        // Written down only: complaints are for people who look into the log.
        thread::Builder::new().name("agent-errors".into()).spawn(move || {
            StreamLines::new(stderr, complaints).limited(0).for_each(drop);
            drop(heard);
        })?;
    }
    let (hearing, reports) = (host.clone(), sink.clone());
    thread::Builder::new().name("agent-output".into()).spawn(move || {
        for line in stdout.into_iter().flat_map(|stdout| StreamLines::new(stdout, out.clone())) {
            let heard = lock(&hearing.listener).hear(&line);
            hearing.send(heard.replies);
            for event in heard.events {
                // Without a receiver it only has to be able to print until it is ended.
                reports.report(event);
            }
        }
        drop(read);
    })?;
    let ending = host.clone();
    thread::Builder::new().name("agent".into()).spawn(move || ending.outlast(wait, &all_read, &sink))?;
    Ok(Box::new(HostHold(host)))
}

impl HostProcess {
    /// Waits for the end and reports it, after everything else.
    fn outlast(&self, wait: impl Fn(), all_read: &Receiver<()>, sink: &Sink) {
        wait();
        while !lock(&self.kept).has_ended() {
            wait();
        }
        // Processes that it left behind are killed with it, because nothing would read or stop them later.
        let code = lock(&self.kept).end();
        let _ = all_read.recv_timeout(GRACE);
        let finish = lock(&self.listener).gone(code);
        if let Some(finish) = finish {
            sink.report(AgentEvent::TurnEnded { finish });
        }
        sink.report(AgentEvent::Exited { code });
    }

    /// Puts lines before the host. False if it cannot take them.
    fn send(&self, lines: Vec<String>) -> bool {
        for line in lines {
            let sent = lock(&self.input).as_ref().map(|input| input.try_send(line));
            match sent {
                Some(Ok(())) => {}
                Some(Err(TrySendError::Full(_))) => {
                    // It would wait for an answer that never comes.
                    self.close();
                    lock(&self.kept).end();
                    return false;
                }
                Some(Err(TrySendError::Disconnected(_))) | None => return false,
            }
        }
        true
    }

    fn close(&self) {
        *lock(&self.input) = None;
    }
}

/// The one hold on a host that counts: when it goes, the host goes.
struct HostHold(HostProcess);

impl RunningAgent for HostHold {
    fn say(&mut self, prompt: &str) -> io::Result<bool> {
        let lines = lock(&self.0.listener).prompt(prompt);
        Ok(lines.is_some_and(|lines| self.0.send(lines)))
    }

    fn answer(&mut self, request: &str, option: Option<&str>, reason: Option<&str>) -> io::Result<()> {
        let lines = lock(&self.0.listener).answer(request, option, reason);
        self.0.send(lines);
        Ok(())
    }

    fn cancel(&mut self) {
        let lines = lock(&self.0.listener).cancel();
        let told = !lines.is_empty() && self.0.send(lines);
        // An end of its input is the end of the conversation, once the turn is over.
        self.0.close();
        if !told {
            lock(&self.0.kept).ask_to_end();
        }
    }

    fn kill(&mut self) {
        self.0.close();
        lock(&self.0.kept).end();
    }

    fn tend(&mut self) {
        lock(&self.0.kept).renew_guard();
    }

    fn printed(&self) -> Instant {
        self.0.out.printed()
    }

    fn pid(&self) -> u32 {
        lock(&self.0.kept).id()
    }
}

impl Drop for HostHold {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Writes on a separate thread, because a host that does not read would block us.
fn writer(mut stdin: ChildStdin) -> io::Result<SyncSender<String>> {
    let (send, lines) = sync_channel::<String>(WAITING);
    thread::Builder::new().name("agent-input".into()).spawn(move || {
        for line in lines {
            if stdin.write_all(line.as_bytes()).and_then(|()| stdin.write_all(b"\n")).is_err() {
                return;
            }
        }
    })?;
    Ok(send)
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
