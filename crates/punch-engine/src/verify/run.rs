//! Runs one check under a guard, with a time limit and bounded output. No process of it is left running when the result
//! is there. Knows nothing about todos.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use punch_core::Verify;

use super::output::CheckOutput;
use super::{CheckEnd, CheckRun};
use crate::process::{GuardedChild, shell};

/// How long output is awaited after the end of a check: something that cannot be ended may hold the pipe.
const GRACE: Duration = Duration::from_secs(2);

/// Runs a command in a folder, with more variables and without some. An error means that it did not start.
pub fn run(
    command: &Verify,
    folder: &Path,
    limit: Duration,
    stopped: &(dyn Fn() -> bool + Sync),
    without: &[&str],
    environment: &[(String, String)],
) -> io::Result<CheckRun> {
    // Programs look their folder up by name: one that is gone would not fail everywhere.
    if !folder.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the folder of the project is gone"));
    }
    let (reader, writer) = io::pipe()?;
    let mut program = program(command)?;
    program.current_dir(folder).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    for name in without {
        program.env_remove(name);
    }
    program.envs(environment.iter().map(|(name, value)| (name, value)));
    let mut child = GuardedChild::start(&mut program)?;
    // It holds our ends for writing: with them the output would never end.
    drop(program);
    let output = Arc::new(Mutex::new(CheckOutput::default()));
    let drained = drain(reader, output.clone())?;
    let cut_short = watch(&mut child, limit, stopped);
    let code = child.end();
    let _ = drained.recv_timeout(GRACE);
    let output = output.lock().unwrap_or_else(PoisonError::into_inner);
    let end = cut_short.unwrap_or(CheckEnd::Exit(code.unwrap_or(-1)));
    Ok(CheckRun { end, tail: output.text(), hash: output.hash() })
}

fn program(command: &Verify) -> io::Result<Command> {
    match command {
        Verify::Shell(line) => Ok(shell(line)),
        Verify::Argv(argv) => {
            let (name, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
            let mut program = Command::new(name);
            program.args(arguments);
            Ok(program)
        }
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Reads on a separate thread until the last writer is gone.
fn drain(mut pipe: io::PipeReader, output: Arc<Mutex<CheckOutput>>) -> io::Result<Receiver<()>> {
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

/// Waits until the check has ended. `None` if it ended by itself, else why it must be ended.
fn watch(child: &mut GuardedChild, limit: Duration, stopped: &(dyn Fn() -> bool + Sync)) -> Option<CheckEnd> {
    let (begun, mut pause) = (Instant::now(), Duration::from_millis(1));
    loop {
        if child.has_ended() {
            return None;
        }
        if stopped() {
            return Some(CheckEnd::Stopped);
        }
        if begun.elapsed() >= limit {
            return Some(CheckEnd::TimedOut);
        }
        child.renew_guard();
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(25));
    }
}
