//! `punch replay`: recorded calls in, answers out, for people who build agents and want to compare.

use std::io::{self, BufRead, BufReader};

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use punch_core::replay::{self, Recording};

use crate::{
    failure::{Exit, Failure},
    output::JsonLines,
};

/// Help at length.
pub const LONG_ABOUT: &str = "\
Replay recorded todo calls of a dialect and print the answers.

Reads JSON lines from standard input. Every line is one recording: its calls run in order on a fresh plan in memory, \
and one line {\"id\": ..., \"results\": [...]} is printed for it. Nothing is stored.

A line that cannot be read prints {\"id\": null, \"error\": {\"code\", \"message\", \"hint\"}}; the other lines are \
still answered, and the exit code is 1.";

const EXAMPLES: &str = "\
Examples:
  punch replay --dialect todowrite < examples/todowrite.jsonl
  punch replay --dialect cursor < calls.jsonl | diff - expected.jsonl";

/// The arguments of `punch replay`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ReplayArgs {
    /// The format of the calls
    #[arg(long, value_name = "NAME", value_parser = recordings())]
    dialect: Recording,
}

/// Clap lists the names in help and in the error, and points out the nearest one.
fn recordings() -> impl TypedValueParser<Value = Recording> {
    PossibleValuesParser::new(Recording::ALL.iter().map(|recording| recording.name()))
        .try_map(|name| Recording::parse(&name).ok_or("no such dialect"))
}

impl ReplayArgs {
    /// Answers standard input line by line.
    pub fn run(self) -> Result<Exit, Failure> {
        let mut input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
        let mut output = JsonLines::stdout();
        let mut exit = Exit::Ok;
        let mut line = Vec::new();
        loop {
            line.clear();
            // Lines end at `\n` and nowhere else: strings may hold U+2028 or U+0085, which other readers split at.
            if input.read_until(b'\n', &mut line).map_err(Failure::Input)? == 0 {
                break;
            }
            if line.iter().all(is_json_space) {
                continue;
            }
            let reply = replay::line(self.dialect, &line);
            if !reply.readable {
                exit = Exit::Refused;
            }
            output.print(&reply.json)?;
        }
        output.flush()?;
        Ok(exit)
    }
}

const fn is_json_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
