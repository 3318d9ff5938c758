//! An agent for `exec:` that plays a script, well or badly. The script is what its todo says, or its arguments: steps with
//! `;` between, each a word and what belongs to it (`steps.rs` has them all). It leaves traces in the folder `$TRACES`:
//! `begun` and `done` get the id whenever work on a todo begins and is done, `order` gets both.

#[cfg(unix)]
mod mischief;
#[cfg(unix)]
mod prompt;
#[cfg(unix)]
mod steps;

use std::process::ExitCode;

#[cfg(unix)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        // What it starts of itself: processes that outlive their parents.
        ["--child", what, ..] => return mischief::child(what),
        ["--go-on", id, script] => {
            let told = prompt::AgentPrompt { id: (*id).to_owned(), ..Default::default() };
            return ExitCode::from(steps::go_on(&told, script));
        }
        _ => {}
    }
    let (told, script) = match arguments.is_empty() {
        true => prompt::AgentPrompt::read().map(|told| (told.clone(), told.content)).unwrap_or_default(),
        // Told by its arguments it has no need of a prompt, and reads none.
        false => (prompt::AgentPrompt::of_session(), arguments.join(" ")),
    };
    ExitCode::from(steps::play(&told, &script))
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    ExitCode::FAILURE
}
