//! The only place that prints. Standard output carries data and nothing else; everything said to a person about
//! the run goes to standard error as `error:` and `hint:` lines.

use std::io::{self, BufRead, BufWriter, IsTerminal, StdoutLock, Write};
use std::process::Stdio;

use punch_core::text;
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};
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
        say(&safe_lines(&message), &safe_lines(&hint));
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
    let _ = writeln!(io::stderr(), "{}", safe_lines(text));
}

/// Asks a person; anything but `y` or `yes` is a no.
pub fn ask(question: &str) -> Result<bool, Failure> {
    let _ = write!(io::stderr(), "{} [y/N] ", safe_lines(question));
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

/// Lines at the end of a terminal that change in place, with what stays above them. Whatever cannot be written there is
/// not worth stopping for.
pub struct Live {
    lines: Vec<String>,
    width: usize,
    drawn: bool,
}

impl Live {
    /// So many lines, on a screen of that width.
    pub fn new(lines: usize, width: usize) -> Self {
        Self { lines: (1..=lines).map(|n| format!("[{n}]")).collect(), width, drawn: false }
    }

    /// Changes the n-th line, counted from 1.
    pub fn set(&mut self, n: usize, said: &str) {
        let mark = format!("[{n}] ");
        let said = said.strip_prefix(&mark).unwrap_or(said);
        if let Some(line) = n.checked_sub(1).and_then(|at| self.lines.get_mut(at)) {
            *line = format!("{mark}{said}");
        }
    }

    /// Draws all of them again.
    pub fn draw(&mut self) {
        let mut out = self.up();
        for line in &self.lines {
            let shown: String = text::neutral(line).chars().take(self.width.saturating_sub(1)).collect();
            out.push_str(&format!("\x1b[2K{shown}\n"));
        }
        self.drawn = true;
        let _ = io::stderr().write_all(out.as_bytes());
    }

    /// Puts a line above them.
    pub fn above(&mut self, said: &str) {
        let out = format!("{}\x1b[J{}\n", self.up(), safe_lines(said));
        self.drawn = false;
        let _ = io::stderr().write_all(out.as_bytes());
        self.draw();
    }

    /// Takes them away.
    pub fn close(&mut self) {
        let out = format!("{}\x1b[J", self.up());
        self.drawn = false;
        let _ = io::stderr().write_all(out.as_bytes());
    }

    /// To the first of them.
    fn up(&self) -> String {
        if self.drawn { format!("\x1b[{}A\r", self.lines.len()) } else { String::new() }
    }
}

/// Names from outside may hold terminal escapes; line breaks of ours stay.
fn safe_lines(message: &str) -> String {
    message.split('\n').map(|line| text::neutral(line).into_owned()).collect::<Vec<_>>().join("\n")
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
