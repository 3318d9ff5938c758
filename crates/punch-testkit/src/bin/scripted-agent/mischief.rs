//! Everything that an agent can do wrong.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process, setsid};

use super::steps::{trace, traces};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Bytes that are not text: NULs, broken UTF-8, and what a terminal would obey.
const RUBBISH: &[u8] = b"\0\0\xff\xfe\xc3\x28\xed\xa0\x80\x1b[2J\x1b]0;title\x07\x08\x7f\xc2\x9b31m\r\n";

/// Plays one step; an exit code ends the agent.
pub fn play(word: &str, rest: &str) -> Option<u8> {
    let number = |otherwise: usize| rest.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(otherwise);
    match word {
        // Bytes that are not text on both streams, then failure.
        "garbage" => {
            for _ in 0..10_000 {
                let _ = io::stdout().write_all(RUBBISH).and_then(|()| io::stderr().write_all(RUBBISH));
            }
            return Some(3);
        }
        // One line of this many megabytes, without an end.
        "line" => repeat(&mut io::stdout(), &[b'x'; 64 * KIB], number(8) * MIB),
        // This many megabytes on both streams at once.
        "flood" => both("a flood of words\n", number(15) * MIB),
        // Lines of nothing, the most lines that fit into this many megabytes.
        "blank" => repeat(&mut io::stdout(), &[b'\n'; 64 * KIB], number(8) * MIB),
        "endless" => both("no end in sight\n", usize::MAX),
        // Bytes without a line end, slowly.
        "drip" => {
            for _ in 0..number(50) {
                let _ = io::stdout().write_all(b".").and_then(|()| io::stdout().flush());
                thread::sleep(Duration::from_millis(20));
            }
        }
        "hang" => hang(),
        // Hangs, and hears no signal that can be ignored: a shell sets that, and it stays with whatever it becomes.
        "deaf" => {
            let deaf = "trap '' TERM INT HUP QUIT; exec \"$0\" --child deaf";
            let _ = Command::new("sh").args(["-c", deaf]).arg(program()?).exec();
        }
        // Away from its group, its session and its parent: the child that does this is left by its own parent.
        "fork" => {
            spawn("away", Stdio::null());
            while !traces().join("forked").exists() {
                thread::sleep(Duration::from_millis(5));
            }
        }
        // Children that keep the pipes open; the agent itself continues.
        "brood" => (0..3).for_each(|_| spawn("stay", Stdio::inherit())),
        // Ends by a signal of its own: KILL, SEGV, ABRT, TERM.
        "crash" => {
            let signal = match rest.split(' ').next() {
                Some("SEGV") => Signal::SEGV,
                Some("ABRT") => Signal::ABORT,
                Some("TERM") => Signal::TERM,
                _ => Signal::KILL,
            };
            // More than once: our own runtime catches the first SEGV.
            loop {
                let _ = kill_process(getpid(), signal);
            }
        }
        // This many megabytes into its folder, or as many as the disk takes.
        "disk" => {
            let file = OpenOptions::new().create(true).append(true).open("eaten");
            let _ = file.map(|mut file| repeat(&mut file, &[7; 64 * KIB], number(8) * MIB));
        }
        _ => {}
    }
    None
}

/// What it starts of itself.
pub fn child(what: &str) -> ExitCode {
    match what {
        // Leaves session and group, and lets the one that is to stay be an orphan.
        "away" => {
            let _ = setsid();
            spawn("orphan", Stdio::null());
            return ExitCode::SUCCESS;
        }
        "orphan" => {
            let _ = setsid();
            trace("forked", &std::process::id().to_string());
        }
        _ => {}
    }
    hang();
    ExitCode::SUCCESS
}

fn program() -> Option<std::path::PathBuf> {
    env::current_exe().ok()
}

/// Starts itself as something that hangs. It is not waited for.
fn spawn(what: &str, output: Stdio) {
    let Some(program) = program() else { return };
    let mut command = Command::new(program);
    command.args(["--child", what]).stdin(Stdio::null());
    if what != "stay" {
        command.stdout(output).stderr(Stdio::null());
    }
    let _ = command.spawn();
}

/// Becomes itself without its input or without its output, and continues with the rest of its script.
pub fn shut(which: &str, id: &str, script: &str) {
    let line = match which {
        "in" => "exec \"$0\" --go-on \"$@\" <&-",
        _ => "exec \"$0\" --go-on \"$@\" >&- 2>&-",
    };
    let Some(program) = program() else { return };
    let _ = Command::new("sh").args(["-c", line]).arg(program).args([id, script]).exec();
}

/// Prints a text again and again on stdout and stderr at once.
fn both(text: &'static str, bytes: usize) {
    let text = text.repeat(4 * KIB / text.len());
    thread::scope(|scope| {
        scope.spawn(|| repeat(&mut io::stderr(), text.as_bytes(), bytes));
        repeat(&mut io::stdout(), text.as_bytes(), bytes);
    });
}

/// Writes the same again and again, until it is enough or the reader is gone.
fn repeat(to: &mut dyn Write, piece: &[u8], bytes: usize) {
    let mut written = 0;
    while written < bytes && to.write_all(piece).is_ok() {
        written += piece.len();
    }
    let _ = to.flush();
}

fn hang() {
    loop {
        thread::sleep(Duration::from_secs(1_000));
    }
}
