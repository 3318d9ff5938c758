//! Markdown lists as users write them: items with the text below each, their nesting, and the headings above.
//!
//! Code fences and comments contain no items. If any item has a box, only those with one are items; otherwise only
//! numbered ones, and without numbers all of them.

use std::collections::BTreeSet;
use std::ops::Range;

use super::plan_file::front_matter;
use crate::record;

/// How many skipped lines are named.
const NAMED: usize = 20;

/// A Markdown list: its items, how they nest, and the headings above them.
#[derive(Debug, Default)]
pub(crate) struct Outline<'a> {
    /// Headings in order, those without items too.
    pub(crate) phases: Vec<&'a str>,
    /// The level of each, from 1.
    pub(crate) levels: Vec<usize>,
    pub(crate) entries: Vec<OutlineItem<'a>>,
    /// Lines that belong to nothing.
    pub(crate) ignored: BTreeSet<String>,
    pub(crate) fences: usize,
    skipped: usize,
}

/// One item. Places are bytes of the whole text.
#[derive(Debug, Default)]
pub(crate) struct OutlineItem<'a> {
    /// Counted from 1.
    pub(crate) line: usize,
    /// The content of the box, if there is one.
    pub(crate) marker: Option<&'a str>,
    /// The byte range of that content, between the brackets.
    pub(crate) marker_at: Range<usize>,
    /// A star behind the box.
    pub(crate) starred: bool,
    pub(crate) text: &'a str,
    /// The byte range of the text.
    pub(crate) text_at: Range<usize>,
    /// The text before the box or content in its line: white space and bullet.
    pub(crate) bullet: &'a str,
    /// The end of the last line of the item and of the text below it, without the line break.
    pub(crate) end: usize,
    /// Index of the heading above.
    pub(crate) phase: Option<usize>,
    /// Index of the item it is nested in.
    pub(crate) parent: Option<usize>,
    /// The paragraphs under it.
    pub(crate) description: Option<String>,
    /// The quotes under it.
    pub(crate) notes: Vec<String>,
    /// Columns before its bullet.
    indent: usize,
    /// The number of columns before the text after its bullet.
    column: usize,
    body: Vec<&'a str>,
}

impl Outline<'_> {
    /// Whether any item has a box.
    pub(crate) fn boxed(&self) -> bool {
        self.entries.iter().any(|entry| entry.marker.is_some())
    }
}

/// Reads a text.
pub(crate) fn read(text: &str) -> Outline<'_> {
    let body = front_matter(text).map_or(text, |(_, body)| body);
    let body_at = text.len() - body.len();
    let above = text[..body_at].matches('\n').count();
    let wanted = wanted(body);
    let mut out = Outline::default();
    let mut nest: Vec<usize> = Vec::new();
    let (mut open, mut unclosed) = (false, None);
    for (line, class) in classes(body) {
        let (number, raw, at) = (line.number + above, line.text, line.at + body_at);
        match &class {
            Class::Item(item) if item.is(wanted) => {
                let indent = columns(raw);
                while nest.last().is_some_and(|at| out.entries[*at].indent >= indent) {
                    nest.pop();
                }
                let parent = nest.last().copied();
                nest.push(out.entries.len());
                open = true;
                let shown_at = at + raw.len() - raw.trim_start().len();
                let place = |range: Range<usize>| shown_at + range.start..shown_at + range.end;
                let words = item.marker.map_or(item.text_at.start, |_| item.marker_at.start - 1);
                out.entries.push(OutlineItem {
                    line: number,
                    marker: item.marker,
                    marker_at: place(item.marker_at.clone()),
                    starred: item.starred,
                    text: item.text,
                    text_at: place(item.text_at.clone()),
                    bullet: &raw[..shown_at - at + words],
                    end: at + raw.len(),
                    phase: out.phases.len().checked_sub(1),
                    parent,
                    indent,
                    column: indent + item.bullet,
                    ..OutlineItem::default()
                });
            }
            Class::Heading(name) => {
                nest.clear();
                open = false;
                out.levels.push(raw.bytes().take_while(|b| *b == b'#').count());
                out.phases.push(*name);
            }
            Class::Blank if open => out.body("", 0),
            Class::Blank | Class::Rule | Class::Comment(_) => {}
            Class::Item(_) | Class::Text | Class::Fence | Class::Code(_)
                if open && columns(raw) > out.entries.last().map_or(0, |entry| entry.indent) =>
            {
                out.body(raw, at + raw.len());
            }
            // Code that is not indented may still belong to an item: its fence was.
            Class::Code(_) if open => out.body(raw, at + raw.len()),
            Class::Code(_) => {}
            Class::Item(_) | Class::Text | Class::Fence => {
                open = false;
                nest.clear();
                out.skip(number);
            }
        }
        out.fences += usize::from(matches!(class, Class::Fence));
        match class {
            Class::Fence | Class::Comment(true) => unclosed = unclosed.or(Some(number)),
            Class::Code(true) => {}
            _ => unclosed = None,
        }
    }
    if let Some(number) = unclosed {
        record::ignore(
            &mut out.ignored,
            &format!("line {number} and everything below it (unclosed code block or comment)"),
        );
    }
    out.entries.iter_mut().for_each(OutlineItem::settle);
    if out.skipped > NAMED {
        record::ignore(&mut out.ignored, &crate::text::counted(out.skipped - NAMED, "more line"));
    }
    out
}

impl<'a> Outline<'a> {
    fn body(&mut self, line: &'a str, end: usize) {
        if let Some(entry) = self.entries.last_mut() {
            entry.body.push(line);
            entry.end = entry.end.max(end);
        }
    }

    fn skip(&mut self, number: usize) {
        self.skipped += 1;
        if self.skipped <= NAMED {
            record::ignore(&mut self.ignored, &format!("line {number}"));
        }
    }
}

impl OutlineItem<'_> {
    /// Makes paragraphs and notes of the lines under it.
    fn settle(&mut self) {
        let (mut paragraphs, mut in_note): (Vec<&str>, bool) = (Vec::new(), false);
        for line in std::mem::take(&mut self.body) {
            let line = dedent(line, self.column);
            match line.strip_prefix('>') {
                Some(quoted) => {
                    let quoted = quoted.strip_prefix(' ').unwrap_or(quoted);
                    match self.notes.last_mut() {
                        _ if quoted.is_empty() => in_note = false,
                        Some(note) if in_note => note.extend(["\n", quoted]),
                        _ => {
                            self.notes.push(quoted.to_owned());
                            in_note = true;
                        }
                    }
                }
                None => {
                    in_note = false;
                    paragraphs.push(line);
                }
            }
        }
        while paragraphs.last().is_some_and(|line| line.is_empty()) {
            paragraphs.pop();
        }
        let first = paragraphs.iter().position(|line| !line.is_empty()).unwrap_or(paragraphs.len());
        self.description = (first < paragraphs.len()).then(|| paragraphs[first..].join("\n"));
    }
}

/// The items that count as todos.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OutlineItems {
    Boxed,
    Numbered,
    All,
}

fn wanted(text: &str) -> OutlineItems {
    let mut out = OutlineItems::All;
    for (_, class) in classes(text) {
        match class {
            Class::Item(OutlineLine { marker: Some(_), .. }) => return OutlineItems::Boxed,
            Class::Item(OutlineLine { numbered: true, .. }) => out = OutlineItems::Numbered,
            _ => {}
        }
    }
    out
}

/// An item in its line. Places are bytes of the line without its indentation.
#[derive(Clone, Debug)]
struct OutlineLine<'a> {
    numbered: bool,
    /// Columns of the bullet and the space behind it.
    bullet: usize,
    marker: Option<&'a str>,
    marker_at: Range<usize>,
    starred: bool,
    text: &'a str,
    text_at: Range<usize>,
}

impl OutlineLine<'_> {
    fn is(&self, wanted: OutlineItems) -> bool {
        match wanted {
            OutlineItems::Boxed => self.marker.is_some(),
            OutlineItems::Numbered => self.numbered,
            OutlineItems::All => true,
        }
    }
}

/// A line of a text, without its line break.
struct SourceLine<'a> {
    /// Counted from 1.
    number: usize,
    /// The byte where the line begins.
    at: usize,
    text: &'a str,
}

#[derive(Clone, Debug)]
enum Class<'a> {
    Blank,
    Heading(&'a str),
    Rule,
    /// Whether it continues on the next line.
    Comment(bool),
    Fence,
    /// Whether it continues on the next line.
    Code(bool),
    Item(OutlineLine<'a>),
    Text,
}

/// Every line and what it is.
fn classes(text: &str) -> impl Iterator<Item = (SourceLine<'_>, Class<'_>)> {
    let (mut fence, mut comment): (Option<&str>, bool) = (None, false);
    let mut next = 0;
    text.split('\n').enumerate().map(move |(above, line)| {
        let at = next;
        next += line.len() + 1;
        let line = line.strip_suffix('\r').unwrap_or(line);
        let shown = line.trim();
        let class = if let Some(mark) = fence {
            let ends = shown.starts_with(mark) && shown.trim_start_matches(&mark[..1]).is_empty();
            fence = fence.filter(|_| !ends);
            Class::Code(!ends)
        } else if comment || shown.starts_with("<!--") {
            comment = !shown.contains("-->");
            Class::Comment(comment)
        } else if shown.starts_with("```") || shown.starts_with("~~~") {
            let mark = &shown[..shown.len() - shown.trim_start_matches(&shown[..1]).len()];
            fence = Some(mark);
            Class::Fence
        } else if shown.is_empty() {
            Class::Blank
        } else if is_rule(shown) {
            Class::Rule
        } else if let Some(name) = heading(line) {
            Class::Heading(name)
        } else if let Some(item) = item(shown) {
            Class::Item(item)
        } else {
            Class::Text
        };
        (SourceLine { number: above + 1, at, text: line }, class)
    })
}

fn is_rule(shown: &str) -> bool {
    let first = shown.as_bytes()[0];
    matches!(first, b'-' | b'*' | b'_') && shown.len() >= 3 && shown.bytes().all(|b| b == first)
}

fn heading(line: &str) -> Option<&str> {
    let level = line.bytes().take_while(|b| *b == b'#').count();
    let name = line.get(level..)?;
    ((1..=6).contains(&level) && name.starts_with([' ', '\t'])).then(|| name.trim()).filter(|name| !name.is_empty())
}

/// `- [m] text`, `* text`, `1. [m] text`, `2) text`; without its indent.
fn item(shown: &str) -> Option<OutlineLine<'_>> {
    let digits = shown.bytes().take(10).take_while(u8::is_ascii_digit).count();
    let numbered = (1..10).contains(&digits);
    let rest = if numbered { shown[digits..].strip_prefix(['.', ')']) } else { shown.strip_prefix(['-', '*', '+']) }?;
    let text = rest.strip_prefix([' ', '\t'])?.trim_start();
    let bullet = if numbered { digits + 2 } else { 2 };
    // Every part but a box without anything in it is cut out of the line, so its length gives its place.
    let place = |part: &str, after: &str| {
        let start = shown.len() - after.len();
        start..start + part.len()
    };
    let plain = OutlineLine {
        numbered,
        bullet,
        marker: None,
        marker_at: 0..0,
        starred: false,
        text,
        text_at: place(text, text),
    };
    let Some(inside) = text.strip_prefix('[') else { return Some(plain) };
    let Some((marker, after)) = inside.split_once(']').and_then(|(marker, after)| Some((mark(marker)?, after))) else {
        return Some(plain);
    };
    let marker_at = shown.len() - inside.len()..shown.len() - after.len() - 1;
    let starred = after.starts_with("* ");
    let after = if starred { &after[1..] } else { after };
    if after.is_empty() || after.starts_with([' ', '\t']) {
        let text = after.trim();
        let text_at = place(text, after.trim_start());
        Some(OutlineLine { marker: Some(marker), marker_at, starred, text, text_at, ..plain })
    } else {
        Some(plain)
    }
}

/// The content of a box: one character. White space around the mark, as in `[ x]`, is a typing mistake.
pub(crate) fn mark(inside: &str) -> Option<&str> {
    let trimmed = inside.trim_matches([' ', '\t']);
    let mut chars = inside.chars();
    match (chars.next(), chars.next()) {
        (None, _) => Some(" "),
        (Some(_), None) => Some(inside),
        _ if trimmed.is_empty() => Some(" "),
        _ => ["x", "X", "-", "~", "/", ">", "!", "✓", "✔"].contains(&trimmed).then_some(trimmed),
    }
}

/// Columns of white space before a line; a tab goes to the next multiple of four.
fn columns(line: &str) -> usize {
    let mut out = 0;
    for b in line.bytes() {
        match b {
            b' ' => out += 1,
            b'\t' => out += 4 - out % 4,
            _ => break,
        }
    }
    out
}

/// A line without this many columns of white space at its front.
fn dedent(line: &str, columns: usize) -> &str {
    let mut at = 0;
    for (n, b) in line.bytes().enumerate() {
        match b {
            b' ' if at < columns => at += 1,
            b'\t' if at < columns => at += 4 - at % 4,
            _ => return &line[n..],
        }
    }
    ""
}
