//! The only place that prints. Standard output carries data and nothing else; everything said to a person about
//! the run goes to standard error as `error:` and `hint:` lines.

use std::io::{self, BufRead, BufWriter, IsTerminal, StdoutLock, Write};
use std::process::Stdio;

use punch_core::text;
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};
use crate::live::safe;
use crate::reply::Reply;

/// Standard output as JSON lines, locked once.
pub struct JsonLines {
    out: BufWriter<StdoutLock<'static>>,
    /// A person types lines and waits for each answer; a pipe gains from full buffers.
    watched: bool,
}

impl JsonLines {
    /// Takes standard output.
    pub fn stdout() -> Self {
        let out = io::stdout().lock();
        let watched = out.is_terminal();
        Self { out: BufWriter::with_capacity(64 * 1024, out), watched }
    }

    /// Writes one line.
    pub fn print(&mut self, value: &Value) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.out, value).map_err(|error| Failure::writing(error.into()))?;
        self.out.write_all(b"\n").map_err(Failure::writing)?;
        if self.watched { self.flush() } else { Ok(()) }
    }

    /// Sends what is buffered.
    pub fn flush(&mut self) -> Result<(), Failure> {
        self.out.flush().map_err(Failure::writing)
    }
}

/// Prints what the argument parser has to say: help and version are answers, the rest is a usage error.
pub fn usage(answer: &clap::Error, as_json: bool) -> Exit {
    if answer.exit_code() == 0 {
        // A reader that left early is no reason to fail: the text was all there was to do.
        let _ = answer.print();
        return Exit::Ok;
    }
    if as_json {
        let text = answer.render().to_string();
        let message = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
        failure(&Failure::usage(message, "`punch --help` and `punch VERB --help` say how"), as_json);
    } else {
        let _ = answer.print();
    }
    Exit::Usage
}

/// Tells why a command stopped: to people on standard error, to programs on standard output.
pub fn failure(failure: &Failure, as_json: bool) {
    let Some((message, hint)) = failure.text() else { return };
    if as_json {
        let error = json!({"schema": 1, "error": {"code": failure.code(), "message": message, "hint": hint}});
        let _ = writeln!(io::stdout(), "{error}");
    } else {
        say(&safe(&message), &safe(&hint));
    }
}

/// Prints the answer of a verb.
pub fn reply(reply: &Reply, as_json: bool) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    if as_json && reply.json.is_null() {
        return Ok(());
    }
    if as_json {
        serde_json::to_writer(&mut out, &reply.json).map_err(|error| Failure::writing(error.into()))?;
        out.write_all(b"\n").map_err(Failure::writing)?;
    } else if !reply.text.is_empty() {
        out.write_all(reply.text.trim_end_matches('\n').as_bytes()).map_err(Failure::writing)?;
        out.write_all(b"\n").map_err(Failure::writing)?;
    }
    out.flush().map_err(Failure::writing)
}

/// Where a program that is started says what it has to say: standard output is for our own answer.
pub fn aside() -> Stdio {
    io::stderr().into()
}

/// Prints a document as it is.
pub fn document(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::writing)
}

/// Says something about the run that is no data.
pub fn remark(text: &str) {
    let _ = writeln!(io::stderr(), "{}", safe(text));
}

/// Asks a person; anything but `y` or `yes` is a no.
pub fn ask(question: &str) -> Result<bool, Failure> {
    let _ = write!(io::stderr(), "{} [y/N] ", safe(question));
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(Failure::Input)?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// The answer to a question that was put already; anything but `y` or `yes` is a no.
pub fn answer() -> Result<bool, Failure> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(Failure::Input)?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Writes to the terminal that a person sees what it takes to change the lines there. What cannot be written is not worth
/// stopping for.
pub fn terminal(commands: &str) {
    let _ = io::stderr().write_all(commands.as_bytes());
}

/// Tells about a mistake of ours in two lines.
pub fn bug(message: &str, place: Option<&str>) {
    let message = text::clip(message, 300);
    let place = place.unwrap_or("an unknown place");
    say(&format!("this is a bug in punch: {} (at {place})", text::neutral(&message)), "please report these two lines");
}

/// Standard error may be closed; a failing report must not become a second failure.
fn say(message: &str, hint: &str) {
    let _ = writeln!(io::stderr(), "error: {message}\nhint: {hint}");
}
