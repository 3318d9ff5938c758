//! A whole small agent on top of `punchlist`: a streaming OpenAI-compatible endpoint, a shell, edits, and a list that it
//! works off to the end. Run it with a local model:
//!
//!     cargo run -p punchlist --example agent -- http://127.0.0.1:11434/v1 MODEL 'Write a haiku into haiku.txt'
//!
//! It runs the commands that the model asks for, without asking you: use it in a folder that may break.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to the user")]

mod agent;

use std::process::ExitCode;

use agent::Agent;
use punchlist::{Options, Session};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, model, task] = arguments.as_slice() else {
        eprintln!("usage: agent URL MODEL TASK");
        return ExitCode::from(2);
    };
    match run(url, model, task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(url: &str, model: &str, task: &str) -> Result<(), agent::Problem> {
    let folder = std::env::current_dir()?;
    // The store that `punch` uses here too: `punch list` and `punch watch` show what the agent does.
    let session = Session::open_project(&folder, Options::new("example-agent"))?;
    let mut say = |text: &str| print!("{text}");
    let reason = Agent { session: &session, url, model, folder: &folder, say: &mut say }.work(task)?;
    println!("\n{}\nstopped: {}", session.view(punchlist::View::Checklist)?, reason.text());
    Ok(())
}
