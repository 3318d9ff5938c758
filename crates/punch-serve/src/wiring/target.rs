//! One file of an agent's configuration and what is wanted in it.

use std::path::PathBuf;

use punch_core::splice::is_blank;

use super::commands::Entry;
use super::{Syntax, Wrong, foreign, json, lines, markdown, table};

/// A file and its part of the wiring.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where it is.
    pub path: PathBuf,
    /// What goes into it.
    pub content: Content,
    /// The project that the entries belong to, if a file in the home folder holds those of several.
    pub project: Option<PathBuf>,
}

/// What goes into a file.
#[derive(Clone, Debug)]
pub enum Content {
    /// Parts of a JSON file, in the form that its agent reads.
    Json(Syntax, Vec<Entry>),
    /// One table of a TOML file: its name in parts, its keys with their values as JSON.
    Table(Vec<&'static str>, Vec<(&'static str, serde_json::Value)>),
    /// A block between markers in a file of Markdown.
    Block(String),
    /// Lines in a block of a file with `#` comments.
    Lines(Vec<String>),
    /// The whole file is ours.
    Whole {
        /// All of it.
        text: String,
        /// What every version of it begins with.
        head: &'static str,
    },
}

/// How far a file is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wired {
    /// All that is wanted is there.
    Yes,
    /// Some of it, or for another program.
    Partly,
    /// Nothing of it.
    No,
}

impl Content {
    /// A text with our part in it; the same text if it is there already. `None` stands for a file that is not there.
    pub fn wire(&self, text: Option<&str>) -> Result<String, Wrong> {
        match (self, text) {
            (Self::Json(syntax, entries), text) => {
                let text = text.unwrap_or_default();
                // The place to be told is the one in the file as it is; an empty file is not even JSON.
                if !is_blank(text) {
                    syntax.check(text)?;
                }
                let wired = json::wire(text, entries)?;
                syntax.check(&wired).map(|()| wired)
            }
            (Self::Table(name, fields), text) => table::wire(text.unwrap_or_default(), name, fields),
            (Self::Block(block), text) => markdown::wire(text.unwrap_or_default(), block),
            (Self::Lines(wanted), text) => lines::wire(text.unwrap_or_default(), wanted),
            (Self::Whole { text: whole, .. }, None) => Ok(whole.clone()),
            (Self::Whole { text: whole, head }, Some(text)) => match text.starts_with(head) {
                true => Ok(whole.clone()),
                false => Err(Wrong::whole("a file of this name is there already, and it is not one of punch")),
            },
        }
    }

    /// A text without our part; `None` if nothing but our own is in it. Objects and arrays that get empty by it go too,
    /// unless they are among `kept`.
    pub fn unwire(&self, text: &str, kept: &[Vec<String>]) -> Result<Option<String>, Wrong> {
        match self {
            Self::Json(_, entries) => json::unwire(text, entries, kept).map(Some),
            Self::Table(name, _) => table::unwire(text, name).map(Some),
            Self::Block(_) => Ok(Some(markdown::unwire(text)?)),
            Self::Lines(gone) => Ok(Some(lines::unwire(text, gone)?)),
            Self::Whole { text: whole, .. } => Ok(if text == whole { None } else { Some(text.to_owned()) }),
        }
    }

    /// The objects and arrays on the way to our parts that a text has by itself.
    pub fn containers(&self, text: Option<&str>) -> Vec<Vec<String>> {
        match (self, text) {
            (Self::Json(_, entries), Some(text)) => json::containers(text, entries),
            _ => Vec::new(),
        }
    }

    /// Everything in a text that is not ours, in a form that can be compared. Null for files that are ours as a whole.
    pub fn foreign(&self, text: &str) -> Result<serde_json::Value, Wrong> {
        Ok(match self {
            Self::Json(_, entries) => foreign::of_json(text, entries)?,
            Self::Table(name, _) => foreign::of_toml(text, name)?,
            Self::Block(_) => markdown::unwire(text)?.trim_end().into(),
            Self::Lines(_) => lines::foreign(text)?.into(),
            Self::Whole { .. } => serde_json::Value::Null,
        })
    }

    /// Returns true if everything in an earlier text that is not ours is still in `now`, the text of the file or `None`
    /// if it is gone. If either text cannot be read, the answer is false.
    pub fn still_holds(&self, now: Option<&str>, earlier: &str) -> bool {
        if now == Some(earlier) {
            return true;
        }
        let Ok(earlier) = self.foreign(earlier) else { return false };
        match (self.foreign(now.unwrap_or_default()), earlier) {
            (Ok(_), serde_json::Value::Null) | (Err(_), _) => false,
            (Ok(serde_json::Value::String(now)), serde_json::Value::String(earlier)) => now.contains(earlier.as_str()),
            (Ok(now), earlier) => foreign::contains(&now, &earlier),
        }
    }

    /// Returns true if nothing is left in a text but what a new file has anyway.
    pub fn is_bare(&self, text: &str) -> bool {
        match self {
            Self::Json(_, entries) => json::is_bare(text, entries),
            Self::Table(..) | Self::Block(_) | Self::Lines(_) => is_blank(text),
            Self::Whole { .. } => false,
        }
    }

    /// How far a file is as it should be.
    pub fn look(&self, text: Option<&str>) -> Result<Wired, Wrong> {
        let Some(text) = text else { return Ok(Wired::No) };
        if let Self::Whole { text: whole, head } = self {
            return Ok(match (text == whole, text.starts_with(head)) {
                (true, _) => Wired::Yes,
                (false, true) => Wired::Partly,
                (false, false) => Wired::No,
            });
        }
        if self.wire(Some(text))? == text {
            return Ok(Wired::Yes);
        }
        let without = self.unwire(text, &self.containers(Some(text)))?;
        Ok(if without.as_deref() == Some(text) { Wired::No } else { Wired::Partly })
    }
}
