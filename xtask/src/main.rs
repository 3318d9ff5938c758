//! Project tasks.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tasks talk to the person who started them")]

mod bench;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["bench", "core"] => bench::core(),
        _ => Err("usage: cargo xtask bench core".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
