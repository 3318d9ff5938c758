//! Reads and writes the list as Markdown.
//!
//! The reader keeps to the patterns the format was defined with. Each is matched by hand in one pass over the line, so
//! a long hostile line costs time in proportion to its length.

use super::list::{PhaseTask, TaskPhase};
use super::normal::normalise;
use crate::{Status, text};

/// The phase for tasks before the first heading.
const DEFAULT_PHASE: &str = "Todos";

/// The phases that a text contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkdownPhases {
    /// The list, with one active task.
    pub phases: Vec<TaskPhase>,
    /// Lines that could not be read, by their number from 1.
    pub errors: Vec<String>,
}

/// Writes headings, checklist items and quoted notes.
pub fn write(phases: &[TaskPhase]) -> String {
    if phases.is_empty() {
        return format!("# {DEFAULT_PHASE}\n");
    }
    let mut out = String::new();
    for phase in phases {
        if !out.is_empty() {
            out.push('\n');
        }
        out.extend(["# ", &phase.name, "\n"]);
        for task in &phase.tasks {
            write_task(task, &mut out);
        }
    }
    out
}

fn write_task(task: &PhaseTask, out: &mut String) {
    let marker = match task.status {
        Status::Pending => " ",
        Status::InProgress => "/",
        Status::Completed => "x",
        Status::Cancelled | Status::Failed => "-",
    };
    out.extend(["- [", marker, "] ", &task.content, "\n"]);
    for (i, note) in task.notes.iter().enumerate() {
        if i > 0 {
            out.push_str("  >\n");
        }
        for line in note.split('\n') {
            out.push_str(if line.is_empty() { "  >" } else { "  > " });
            out.extend([line, "\n"]);
        }
    }
}

/// Reads a text; what cannot be read is named, and the rest is read all the same.
pub fn read(markdown: &str) -> MarkdownPhases {
    let mut reader = PhasesReader::default();
    for (i, line) in lines(markdown).enumerate() {
        reader.line(i + 1, line);
    }
    normalise(&mut reader.out.phases);
    reader.out
}

/// Splits at `\r?\n`: a carriage return that no line feed follows stays.
fn lines(markdown: &str) -> impl Iterator<Item = &str> {
    let mut pieces = markdown.split('\n').peekable();
    std::iter::from_fn(move || {
        let piece = pieces.next()?;
        let ended = pieces.peek().is_some();
        Some(if ended { piece.strip_suffix('\r').unwrap_or(piece) } else { piece })
    })
}

#[derive(Default)]
struct PhasesReader {
    out: MarkdownPhases,
    /// The last line that counts was a task or a note of it.
    in_task: bool,
    /// The next note line continues the last note.
    in_note: bool,
}

impl PhasesReader {
    fn line(&mut self, number: usize, raw: &str) {
        if self.in_task
            && let Some(note) = note_line(raw)
        {
            return self.note(note);
        }
        let line = text::js_trim(raw);
        if line.is_empty() {
            return;
        }
        self.in_note = false;
        self.in_task = false;
        if let Some(name) = heading(line) {
            self.out.phases.push(TaskPhase::new(name));
        } else if let Some((marker, content)) = item(line) {
            // The phase comes first: it is there even if the marker turns out to be unknown.
            if self.out.phases.is_empty() {
                self.out.phases.push(TaskPhase::new(DEFAULT_PHASE));
            }
            match status(marker) {
                Some(status) => self.task(PhaseTask::new(content, status)),
                None => self.error(number, &format!("unknown status marker \"[{marker}]\" (use [ ], [x], [/], [-])")),
            }
        } else {
            self.error(number, &format!("unrecognized syntax \"{line}\""));
        }
    }

    fn task(&mut self, task: PhaseTask) {
        if let Some(phase) = self.out.phases.last_mut() {
            phase.tasks.push(task);
            self.in_task = true;
        }
    }

    fn note(&mut self, line: &str) {
        let Some(task) = self.out.phases.last_mut().and_then(|phase| phase.tasks.last_mut()) else { return };
        match task.notes.last_mut() {
            _ if line.is_empty() => self.in_note = false,
            Some(note) if self.in_note => note.extend(["\n", line]),
            _ => {
                task.notes.push(line.to_owned());
                self.in_note = true;
            }
        }
    }

    fn error(&mut self, number: usize, what: &str) {
        self.out.errors.push(format!("Line {number}: {what}"));
    }
}

fn status(marker: &str) -> Option<Status> {
    match marker {
        "" | " " => Some(Status::Pending),
        "x" | "X" => Some(Status::Completed),
        "/" | ">" => Some(Status::InProgress),
        "-" | "~" => Some(Status::Cancelled),
        _ => None,
    }
}

/// `^\s*>\s?(.*)$`
fn note_line(raw: &str) -> Option<&str> {
    let rest = raw.trim_start_matches(text::is_js_space).strip_prefix('>')?;
    one_line(rest.strip_prefix(text::is_js_space).unwrap_or(rest))
}

/// `^#{1,6}\s+(.+?)\s*$` on a trimmed line.
fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    if !(1..=6).contains(&(line.len() - rest.len())) {
        return None;
    }
    spaced(rest)
}

/// `^[-*+]\s*\[(.?)\]\s+(.+?)\s*$` on a trimmed line: marker and content.
fn item(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix(['-', '*', '+'])?;
    let rest = rest.trim_start_matches(text::is_js_space).strip_prefix('[')?;
    // `.?` is one UTF-16 unit and takes what it can: in `[]]` the marker is `]`.
    let first = rest.chars().next().filter(|c| c.len_utf16() == 1 && !is_line_end(*c));
    let marked = first.and_then(|c| {
        let (marker, after) = rest.split_at(c.len_utf8());
        Some((marker, spaced(after.strip_prefix(']')?)?))
    });
    marked.or_else(|| Some(("", spaced(rest.strip_prefix(']')?)?)))
}

/// `\s+(.+?)\s*$` where the text is known to end without white space.
fn spaced(rest: &str) -> Option<&str> {
    let content = rest.trim_start_matches(text::is_js_space);
    if content.len() == rest.len() || content.is_empty() { None } else { one_line(content) }
}

/// What `.` cannot match must not be in it.
fn one_line(text: &str) -> Option<&str> {
    (!text.contains(is_line_end)).then_some(text)
}

const fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}
