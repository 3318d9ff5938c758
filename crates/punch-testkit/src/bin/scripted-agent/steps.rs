//! The steps of a script. Whatever cannot be done is passed over: an agent that misbehaves has no errors.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use super::mischief;
use super::prompt::AgentPrompt;

/// What comes of a step.
enum StepEnd {
    /// The next one.
    Next,
    /// It ends with this exit code and leaves no trace of having done anything.
    Exit(u8),
}

/// Plays all steps. After the last one the todo counts as done.
pub fn play(told: &AgentPrompt, script: &str) -> u8 {
    trace("begun", &told.id);
    trace("order", &format!("begin {}", told.id));
    go_on(told, script)
}

/// Plays the steps that are left, from the middle of a script.
pub fn go_on(told: &AgentPrompt, script: &str) -> u8 {
    let mut left = script;
    while !left.is_empty() {
        let step;
        (step, left) = left.split_once(';').unwrap_or((left, ""));
        let (word, rest) = step.trim().split_once(' ').unwrap_or((step.trim(), ""));
        if word == "shut" {
            mischief::shut(rest.split(' ').next().unwrap_or_default(), &told.id, left);
        }
        if let StepEnd::Exit(code) = one(told, word, rest.trim()) {
            return code;
        }
    }
    trace("done", &told.id);
    trace("order", &format!("end {}", told.id));
    0
}

fn one(told: &AgentPrompt, word: &str, rest: &str) -> StepEnd {
    let first = rest.split(' ').next().unwrap_or_default();
    match word {
        // Does what is asked: a file with the name of the todo.
        "work" => work(told),
        "slow" => {
            sleep(first);
            work(told);
        }
        "sleep" => sleep(first),
        // Only the second attempt does it, and only because it was told what went wrong.
        "learn" if told.failed => work(told),
        "nothing" => return StepEnd::Exit(0),
        "exit" => return StepEnd::Exit(first.parse().unwrap_or(1)),
        "refuse" => {
            let _ = writeln!(io::stderr(), "I cannot do this");
            return StepEnd::Exit(7);
        }
        // Waits until a file of this name is among the traces.
        "await" => {
            while !traces().join(first).exists() {
                thread::sleep(Duration::from_millis(5));
            }
        }
        "trace" => trace(first, &told.id),
        // Any other program, such as git.
        "sh" => {
            let _ = Command::new("sh").args(["-c", rest]).status();
        }
        // Says that it is done, over the command line.
        "say" => punch("said", &["done", &told.id, "--evidence", "said by the agent"]),
        "grow" => punch("grown", &["add", "work that came later"]),
        "remove" => punch("removed", &["rm", first]),
        "punch" => punch("punch", &rest.split(' ').collect::<Vec<_>>()),
        _ => return mischief::play(word, rest).map_or(StepEnd::Next, StepEnd::Exit),
    }
    StepEnd::Next
}

fn work(told: &AgentPrompt) {
    let _ = writeln!(io::stdout(), "working on {}", told.id);
    let _ = fs::write(format!("made-{}", told.id), "");
}

fn sleep(seconds: &str) {
    thread::sleep(Duration::from_secs_f64(seconds.parse::<f64>().unwrap_or(0.0).clamp(0.0, 1_000.0)));
}

/// Runs `punch` and keeps what it printed as a trace.
fn punch(name: &str, arguments: &[&str]) {
    let program = env::var_os("PUNCH").unwrap_or_else(|| "punch".into());
    let Ok(output) = Command::new(program).args(arguments).output() else { return };
    let _ = fs::write(traces().join(name), [output.stdout, output.stderr].concat());
}

/// Where traces go.
pub fn traces() -> PathBuf {
    env::var_os("TRACES").map_or_else(env::temp_dir, PathBuf::from)
}

/// Adds a line to a trace, in one write: others write there too.
pub fn trace(name: &str, line: &str) {
    let file: io::Result<File> = OpenOptions::new().append(true).create(true).open(traces().join(name));
    let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
}
