//! One file of an agent's configuration and what is wanted in it.

use std::path::PathBuf;

use super::commands::Entry;
use super::{Syntax, Wrong, json, markdown, table};

/// A file and its part of the wiring.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where it is.
    pub path: PathBuf,
    /// What goes into it.
    pub content: Content,
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
                if !text.trim_start_matches('\u{feff}').trim().is_empty() {
                    syntax.check(text)?;
                }
                let wired = json::wire(text, entries)?;
                syntax.check(&wired).map(|()| wired)
            }
            (Self::Table(name, fields), text) => table::wire(text.unwrap_or_default(), name, fields),
            (Self::Block(block), text) => markdown::wire(text.unwrap_or_default(), block),
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

    /// Whether nothing is left in a text that this content could have been the reason for.
    pub fn is_bare(&self, text: &str) -> bool {
        match self {
            Self::Json(..) => json::is_bare(text),
            Self::Table(..) | Self::Block(_) => text.trim_start_matches('\u{feff}').trim().is_empty(),
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
