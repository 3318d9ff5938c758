//! The only module that prints. Standard output carries data and nothing else; messages to the user go to standard
//! error as `error:` and `hint:` lines.

use std::io::{self, BufRead, BufWriter, IsTerminal, StdoutLock, Write};
use std::num::{IntErrorKind, ParseIntError};
use std::process::Stdio;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use punch_core::view::width::columns;
use punch_core::view::{Glyphs, Layout, SpanRole};
use punch_core::{ShownStatus, text};
use serde_json::{Value, json};

use crate::commands::help;
use crate::failure::{Exit, Failure};
use crate::live::safe;
use crate::reply::VerbReply;
use crate::style::{OutputStream, Painter};
use crate::{environment, pager, progress};

/// Standard output as JSON lines, locked once.
pub struct JsonLines {
    out: BufWriter<StdoutLock<'static>>,
    /// The user types lines and waits for each answer; a pipe gains from full buffers.
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

    /// Writes one line and sends it.
    pub fn print_last(mut self, value: &Value) -> Result<(), Failure> {
        self.print(value)?;
        self.flush()
    }

    /// Sends what is buffered.
    pub fn flush(&mut self) -> Result<(), Failure> {
        self.out.flush().map_err(Failure::writing)
    }
}

/// Prints what the argument parser has to say: help and version are answers, the rest is a usage error.
pub fn usage(mut answer: clap::Error, as_json: bool) -> Exit {
    without_escape_tip(&mut answer);
    suggest_flags(&mut answer);
    suggest_verbs(&mut answer);
    let answer = plain_number(&answer).unwrap_or(answer);
    if answer.exit_code() == 0 {
        // A reader that left early is not a failure: the text was all there was to do.
        let _ = answer.print();
        return Exit::Ok;
    }
    if as_json {
        let text = answer.render().to_string();
        let message = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
        failure(&Failure::usage(message, "`punch help COMMAND` shows the arguments, with examples"), as_json);
    } else {
        let _ = answer.print();
    }
    Exit::Usage
}

/// What other tools call our verbs.
const OTHER_TOOLS: [(&str, &str); 16] = [
    ("remove", "rm"),
    ("delete", "rm"),
    ("archive", "rm"),
    ("complete", "done"),
    ("close", "done"),
    ("create", "add"),
    ("view", "show"),
    ("find", "search"),
    ("update", "edit"),
    ("rename", "edit"),
    ("history", "log"),
    ("begin", "start"),
    ("block", "hold"),
    ("pause", "hold"),
    ("connect", "install"),
    ("disconnect", "uninstall"),
];

/// Suggests a flag only if it is nearly what was typed.
fn suggest_flags(answer: &mut clap::Error) {
    let Some(ContextValue::String(given)) = answer.get(ContextKind::InvalidArg) else { return };
    let given = given.trim_start_matches('-').to_owned();
    if let Some(ContextValue::String(near)) = answer.remove(ContextKind::SuggestedArg)
        && !text::nearest(&given, [near.trim_start_matches('-')].into_iter(), 1).is_empty()
    {
        answer.insert(ContextKind::SuggestedArg, ContextValue::String(near));
    }
}

/// Suggests at most two verbs that are nearly what was typed, and of these only such that help shows.
fn suggest_verbs(answer: &mut clap::Error) {
    let Some(ContextValue::String(given)) = answer.get(ContextKind::InvalidSubcommand) else { return };
    let given = given.clone();
    let known = match answer.remove(ContextKind::SuggestedSubcommand) {
        _ if environment::names_verb(&given) => help::verbs().map(str::to_owned).collect(),
        Some(ContextValue::Strings(near)) => near,
        Some(ContextValue::String(near)) => vec![near],
        _ => Vec::new(),
    };
    let meant = OTHER_TOOLS
        .iter()
        .find(|(word, _)| *word == given && environment::names_verb(word))
        .map(|(_, verb)| vec![(*verb).to_owned()]);
    let near = meant.unwrap_or_else(|| text::nearest(&given, known.iter().map(String::as_str), 2));
    if !near.is_empty() {
        answer.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
    }
}

/// A number that cannot be read, in words for people instead of those of the standard library.
fn plain_number(answer: &clap::Error) -> Option<clap::Error> {
    let cause = std::error::Error::source(answer)?.downcast_ref::<ParseIntError>()?;
    let (Some(ContextValue::String(argument)), Some(ContextValue::String(value))) =
        (answer.get(ContextKind::InvalidArg), answer.get(ContextKind::InvalidValue))
    else {
        return None;
    };
    let what = match cause.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "the number is too large",
        _ => "use a whole number, such as 20",
    };
    let value = text::neutral(value);
    let message = format!("invalid value '{value}' for '{argument}': {what}\n\nFor more information, try '--help'.\n");
    Some(clap::Error::raw(ErrorKind::ValueValidation, message))
}

/// Drops the tip to pass an unknown option as a value: it would become the text of a todo.
fn without_escape_tip(answer: &mut clap::Error) {
    if let Some(ContextValue::StyledStrs(mut tips)) = answer.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().contains("as a value"));
        if !tips.is_empty() {
            answer.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
}

/// Tells why a command stopped: to people on standard error, to programs on standard output.
pub fn failure(failure: &Failure, as_json: bool) {
    let Some((message, hint)) = failure.text() else { return };
    if as_json {
        let error = json!({"schema": 1, "error": {"code": failure.code(), "message": message, "hint": hint}});
        let _ = writeln!(io::stdout(), "{error}");
    } else {
        let width = OutputStream::Err.is_terminal().then(environment::width);
        let layout = Layout { glyphs: Glyphs::Unicode, width, now: environment::clock()() };
        say(&layout.with_moments(message, failure.moments()), &hint);
    }
}

/// Prints the answer of a verb: in color if that is requested, and one screen at a time if it is long.
pub fn reply(reply: &VerbReply, as_json: bool) -> Result<(), Failure> {
    if as_json {
        return if reply.json.is_null() { Ok(()) } else { JsonLines::stdout().print_last(&reply.json) };
    }
    if reply.body.0.is_empty() {
        return Ok(());
    }
    let (painter, mut text) = (OutputStream::Out.painter(), String::new());
    let width = io::stdout().is_terminal().then(environment::width);
    let mut painted = String::new();
    for line in &reply.body.0 {
        painted.clear();
        painter.line(line, &mut painted);
        match width {
            Some(_) => text.push_str(&wrapped(&painted, width)),
            None => text.push_str(&painted),
        }
        text.push('\n');
    }
    // The answer to a change is short and has to stay on the screen.
    if reply.wrote || !pager::print(&text) {
        document(&text)?;
    }
    reply.remarks.iter().for_each(|text| remark(text));
    Ok(())
}

/// Where a program that is started says what it has to say: standard output is for our own answer.
pub fn aside() -> Stdio {
    io::stderr().into()
}

/// Prints a document as it is.
pub fn document(text: &str) -> Result<(), Failure> {
    progress::clear();
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::writing)
}

/// Prints text for people; on a terminal its lines are broken between words.
pub fn prose(text: &str) -> Result<(), Failure> {
    let Some(width) = io::stdout().is_terminal().then(environment::width) else { return document(text) };
    let lines: Vec<String> = text.split('\n').map(|line| wrapped(line, Some(width))).collect();
    document(&lines.join("\n"))
}

/// Columns of the terminal that answers go to, if they go to one.
pub fn terminal_width() -> Option<usize> {
    io::stdout().is_terminal().then(environment::width)
}

/// Says something about the run that is no data.
pub fn remark(text: &str) {
    progress::clear();
    let painter = OutputStream::Err.painter();
    let width = io::stderr().is_terminal().then(environment::width);
    for line in safe(text).lines() {
        let _ = writeln!(io::stderr(), "{}", wrapped(&labeled(painter, line), width));
    }
}

/// Writes a line of a log to standard error as it is.
pub fn log_line(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Breaks a line at spaces where it is wider than the terminal; terminals break words in two. What follows is indented
/// like the line.
fn wrapped(line: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|width| room(line) > *width) else { return line.to_owned() };
    let (mut out, mut column) = (String::with_capacity(line.len() + 8), 0);
    // Spaces before the first word, which may begin with a color.
    let (mut indent, mut in_indent) = (0, true);
    for (at, word) in line.split(' ').enumerate() {
        let needed = room(word);
        let is_first = in_indent && needed > 0;
        if is_first {
            (indent, in_indent) = (column + usize::from(at > 0), false);
        }
        if !is_first && !in_indent && column + 1 + needed > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if at > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += needed;
    }
    out
}

/// Columns of a text on a terminal; escape sequences for colors take none.
fn room(text: &str) -> usize {
    let (mut taken, mut rest) = (0, text);
    while let Some((before, escape)) = rest.split_once('\u{1b}') {
        taken += columns(before);
        rest = escape.split_once('m').map_or("", |(_, after)| after);
    }
    taken + columns(rest)
}

/// A line with its label in color: `error:`, `warning:`, `note:`, `hint:`.
fn labeled(painter: Painter, line: &str) -> String {
    const LABELS: [(&str, SpanRole); 4] = [
        ("error:", SpanRole::Status(ShownStatus::Failed)),
        ("warning:", SpanRole::Warning),
        ("note:", SpanRole::Warning),
        ("hint:", SpanRole::Id),
    ];
    let found = LABELS.iter().find_map(|(label, role)| Some((*label, *role, line.strip_prefix(label)?)));
    found.map_or_else(|| line.to_owned(), |(label, role, rest)| format!("{}{rest}", painter.words(role, label)))
}

/// Asks the user; anything but `y` or `yes` is a no.
pub fn ask(question: &str) -> Result<bool, Failure> {
    progress::forbid();
    let _ = write!(io::stderr(), "{} [y/N] ", safe(question));
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(Failure::Input)?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Waits for Enter; false if the user types `q`, or ends the input.
pub fn pause(prompt: &str) -> Result<bool, Failure> {
    progress::forbid();
    let _ = write!(io::stderr(), "{}", safe(prompt));
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line).map_err(Failure::Input)?;
    Ok(read > 0 && !line.trim().eq_ignore_ascii_case("q"))
}

/// How a question with a third choice was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreeWayAnswer {
    /// `y` or `yes`.
    Yes,
    /// The third choice.
    Other,
    /// Anything else.
    No,
}

/// Asks the user a question with a third choice, which is one letter.
pub fn choose(question: &str, other: char) -> Result<ThreeWayAnswer, Failure> {
    progress::forbid();
    let _ = write!(io::stderr(), "{} [y/N/{other}] ", safe(question));
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(Failure::Input)?;
    let given = line.trim().to_ascii_lowercase();
    Ok(match given.as_str() {
        "y" | "yes" => ThreeWayAnswer::Yes,
        _ if given == other.to_string() => ThreeWayAnswer::Other,
        _ => ThreeWayAnswer::No,
    })
}

/// The answer to a question that was put already; anything but `y` or `yes` is a no.
pub fn answer() -> Result<bool, Failure> {
    progress::forbid();
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(Failure::Input)?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Writes to the terminal that the user sees what it takes to change the lines there. What cannot be written is not worth
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
    remark(&format!("error: {message}\nhint: {hint}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_at_spaces() {
        assert_eq!(wrapped("  one two three four", Some(11)), "  one two\n  three\n  four");
        assert_eq!(wrapped("one two", Some(7)), "one two");
        assert_eq!(wrapped("one two", None), "one two");
        assert_eq!(wrapped("a-word-that-does-not-fit x", Some(10)), "a-word-that-does-not-fit\nx");
        assert_eq!(wrapped("\u{1b}[1mone\u{1b}[0m two", Some(7)), "\u{1b}[1mone\u{1b}[0m two");
        assert_eq!(wrapped("\u{1b}[1mone\u{1b}[0m two", Some(6)), "\u{1b}[1mone\u{1b}[0m\ntwo");
    }
}
