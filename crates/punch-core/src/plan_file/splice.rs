//! Finds where in the text a value is replaced or an entry is inserted. Every splice replaces bytes of the front
//! matter; everything around them stays.

use granit_parser::ScalarStyle;

use super::tree::{CollectionStyle, FileNode, NodeValue};
use crate::format::yaml;
pub(super) use crate::splice::TextSplice;

/// A value that goes into the file.
pub(super) enum SplicedValue<'a> {
    /// A word that needs no quotes.
    Word(&'a str),
    /// Any text.
    Text(&'a str),
    /// Ids.
    Ids(&'a [String]),
}

/// The text of one todo and its place.
pub(super) struct TodoSource<'a> {
    pub front: &'a str,
    pub todo: &'a FileNode,
}

impl TodoSource<'_> {
    /// Sets an entry: its value is replaced, or it comes in behind `after`, the first of these that is there.
    /// `None` where the form is one that is not edited.
    pub(super) fn set(&self, name: &str, value: &SplicedValue<'_>, after: &[&str]) -> Option<TextSplice> {
        match self.todo.entry(name) {
            Some((key, node)) => self.replace(key, node, value),
            None => self.insert(name, value, after),
        }
    }

    fn flow(&self) -> bool {
        matches!(self.todo.what, NodeValue::Map(CollectionStyle::Flow, _))
    }

    fn replace(&self, key: &FileNode, node: &FileNode, value: &SplicedValue<'_>) -> Option<TextSplice> {
        let colon = || {
            let rest = &self.front[key.end..];
            let at = rest.find(|c: char| !matches!(c, ' ' | '\t')).filter(|at| rest[*at..].starts_with(':'))?;
            Some(key.end + at + 1)
        };
        let text = |style| self.rendered(value, Some(style));
        match &node.what {
            _ if node.is_blank() => colon().map(|at| (at..at, format!(" {}", self.rendered(value, None)))),
            NodeValue::Scalar(
                _,
                style @ (ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted),
            ) => Some((node.start..node.end, text(*style))),
            NodeValue::List(CollectionStyle::Flow, _) => Some((node.start..node.end, self.rendered(value, None))),
            // Both begin behind the key and hold nothing but their own lines.
            NodeValue::Scalar(..) | NodeValue::List(CollectionStyle::Block, _) => {
                let colon = colon()?;
                let end = node.start + self.front.get(node.start..node.end)?.trim_end().len();
                let comments = matches!(node.what, NodeValue::List(..)) && self.front[colon..end].contains('#');
                let headed = self.front[colon..node.start].contains('#');
                (!comments && !headed).then(|| (colon..end, format!(" {}", self.rendered(value, None))))
            }
            NodeValue::Map(..) => None,
        }
    }

    fn insert(&self, name: &str, value: &SplicedValue<'_>, after: &[&str]) -> Option<TextSplice> {
        let entry = format!("{name}: {}", self.rendered(value, None));
        let anchor = after.iter().find_map(|name| self.todo.entry(name));
        let Some((_, value)) = anchor else {
            // Nothing to come behind: it comes first.
            let first = self.todo.entries().first()?.0.start;
            let text = if self.flow() { format!("{entry}, ") } else { format!("{entry}{}", self.next_line()) };
            return Some((first..first, text));
        };
        if self.flow() {
            return Some((value.end..value.end, format!(", {entry}")));
        }
        let at = line_end(self.front, value.start + self.front.get(value.start..value.end)?.trim_end().len());
        Some((at..at, format!("{}{entry}", self.next_line())))
    }

    /// A line break and the indentation of the todo's entries.
    fn next_line(&self) -> String {
        let first = self.todo.entries().first().map_or(self.todo.start, |(key, _)| key.start);
        let indent = " ".repeat(column(self.front, first));
        format!("{}{indent}", line_break(self.front))
    }

    fn rendered(&self, value: &SplicedValue<'_>, style: Option<ScalarStyle>) -> String {
        match (value, style) {
            (SplicedValue::Word(word) | SplicedValue::Text(word), Some(ScalarStyle::DoubleQuoted)) => {
                yaml::flow(&(*word).into())
            }
            (SplicedValue::Word(word), Some(ScalarStyle::SingleQuoted)) => format!("'{word}'"),
            (SplicedValue::Word(word), _) => (*word).to_owned(),
            (SplicedValue::Text(text), Some(ScalarStyle::SingleQuoted))
                if !text.chars().any(crate::text::is_unsafe) =>
            {
                format!("'{}'", text.replace('\'', "''"))
            }
            // A comma would end it there.
            (SplicedValue::Text(text), _) if self.flow() => yaml::flow(&(*text).into()),
            (SplicedValue::Text(text), _) => yaml::quoted(text),
            (SplicedValue::Ids(ids), _) => list(ids),
        }
    }
}

/// Ids in brackets.
pub(super) fn list(ids: &[String]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| word(id)).collect();
    format!("[{}]", ids.join(", "))
}

/// An id without quotes where that is safe everywhere.
pub(super) fn word(id: &str) -> String {
    let plain = id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if plain { yaml::quoted(id) } else { yaml::flow(&id.into()) }
}

/// The line break of the file.
pub(super) fn line_break(front: &str) -> &'static str {
    if front.find('\n').is_some_and(|at| front[..at].ends_with('\r')) { "\r\n" } else { "\n" }
}

/// Where the line of a place ends, before its line break.
pub(super) fn line_end(front: &str, at: usize) -> usize {
    let end = front[at..].find('\n').map_or(front.len(), |length| at + length);
    if end > at && front[..end].ends_with('\r') { end - 1 } else { end }
}

/// Characters before a place in its line.
pub(crate) fn column(front: &str, at: usize) -> usize {
    let start = front[..at].rfind('\n').map_or(0, |found| found + 1);
    front[start..at].chars().count()
}
