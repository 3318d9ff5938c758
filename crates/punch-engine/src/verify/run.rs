//! Runs one check: in its own process group, with a time limit, with output that costs no memory, and nothing of it
//! left when the answer is there. Knows nothing of todos.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use punch_core::Verify;

use super::output::Output;
use crate::process;

/// After its end, output is awaited for so long: something that nobody can end may hold the pipe.
const GRACE: Duration = Duration::from_secs(2);

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this exit code; 128 and more for signals.
    Exit(i32),
    /// It took longer than allowed.
    TimedOut,
    /// Somebody wanted it to stop.
    Stopped,
}

/// A check that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// The end of what it printed, both streams together; at most [`super::TAIL`] bytes, as it came.
    pub tail: String,
    /// The hash of everything it printed.
    pub hash: String,
}

/// Runs a command in a folder. An error means that it did not start.
pub(super) fn run(
    command: &Verify,
    folder: &Path,
    limit: Duration,
    stopped: &(dyn Fn() -> bool + Sync),
    without: &[&str],
) -> io::Result<Ran> {
    // Programs look their folder up by name: one that is gone would not fail everywhere.
    if !folder.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the folder of the project is gone"));
    }
    let mark = process::mark();
    let mut guard = process::Guard::new(&mark)?;
    let (mut child, pipe) = start(command, folder, &mark, without)?;
    let output = Arc::new(Mutex::new(Output::default()));
    let drained = match guard.over(&child).and_then(|()| drain(pipe, output.clone())) {
        Ok(drained) => drained,
        Err(error) => {
            process::end_all(&mut child, &mark);
            let _ = child.wait();
            return Err(error);
        }
    };
    let ended = watch(&mut child, limit, stopped, &mut |child| {
        // Somebody has killed it: there must be one as long as there is something to watch over.
        if guard.is_gone()
            && let Ok(mut new) = process::Guard::new(&mark)
            && new.over(child).is_ok()
        {
            guard = new;
        }
    });
    process::end_all(&mut child, &mark);
    drop(guard);
    let end = match ended {
        None => End::Exit(process::code(child.wait()?)),
        Some(why) => {
            // The kernel may hold on to it, for a disk that does not answer; the caller is not to wait for that.
            let until = Instant::now() + GRACE;
            while !process::has_ended(&mut child) && Instant::now() < until {
                thread::sleep(Duration::from_millis(5));
            }
            let _ = child.try_wait();
            why
        }
    };
    let _ = drained.recv_timeout(GRACE);
    let output = output.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Ran { end, tail: output.text(), hash: output.hash() })
}

fn start(command: &Verify, folder: &Path, mark: &str, without: &[&str]) -> io::Result<(Child, io::PipeReader)> {
    let mut program = match command {
        Verify::Shell(line) => process::shell(line),
        Verify::Argv(argv) => {
            let (name, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
            let mut program = Command::new(name);
            program.args(arguments);
            program
        }
    };
    let (reader, writer) = io::pipe()?;
    program.current_dir(folder).env(process::variable(mark), "1").stdin(Stdio::null());
    for name in without {
        program.env_remove(name);
    }
    program.stdout(writer.try_clone()?).stderr(writer);
    process::apart(&mut program);
    // `program` holds our ends for writing and goes here: else the output would never end.
    Ok((program.spawn()?, reader))
}

/// Reads until the last writer is gone, on a thread of its own.
fn drain(mut pipe: io::PipeReader, output: Arc<Mutex<Output>>) -> io::Result<Receiver<()>> {
    let (send, drained) = channel();
    thread::Builder::new().name("check".into()).spawn(move || {
        let mut chunk = vec![0; 64 * 1024];
        loop {
            match pipe.read(&mut chunk) {
                Ok(0) => break,
                Ok(n) => output.lock().unwrap_or_else(PoisonError::into_inner).take(&chunk[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let _ = send.send(());
    })?;
    Ok(drained)
}

/// Waits for the end; `None` if it came by itself. Meanwhile the guard is tended.
fn watch(
    child: &mut Child,
    limit: Duration,
    stopped: &(dyn Fn() -> bool + Sync),
    tend: &mut dyn FnMut(&Child),
) -> Option<End> {
    let (begun, mut pause) = (Instant::now(), Duration::from_millis(1));
    loop {
        if process::has_ended(child) {
            return None;
        }
        if stopped() {
            return Some(End::Stopped);
        }
        if begun.elapsed() >= limit {
            return Some(End::TimedOut);
        }
        tend(child);
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(25));
    }
}
