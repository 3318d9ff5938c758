//! Puts our entries into one file of an agent's configuration, and removes them again.

use punch_agents::settings::FileContent;
use punch_core::splice::is_blank;

use super::{SettingsFileError, foreign, json, lines, markdown, syntax, table};

/// How far a file is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// Everything that we need is there.
    Yes,
    /// Some of it, or for another program.
    Partly,
    /// Nothing of it.
    No,
}

/// Edits one file.
pub trait FileEditor {
    /// Returns a text with our part in it; the same text if it is there already. `None` represents a file that does not
    /// exist.
    fn wire(&self, text: Option<&str>) -> Result<String, SettingsFileError>;

    /// Returns a text without our part; `None` if nothing but our own is in it. Objects and arrays that become empty
    /// are removed too, unless they are among `kept`.
    fn unwire(&self, text: &str, kept: &[Vec<String>]) -> Result<Option<String>, SettingsFileError>;

    /// The objects and arrays on the way to our parts that a text has by itself.
    fn containers(&self, text: Option<&str>) -> Vec<Vec<String>>;

    /// Everything in a text that is not ours, in a form that can be compared. Null for files that are ours as a whole.
    fn foreign(&self, text: &str) -> Result<serde_json::Value, SettingsFileError>;

    /// Returns true if everything in an earlier text that is not ours is still in `now`, the text of the file or `None`
    /// if it is gone. If either text cannot be read, the answer is false.
    fn still_holds(&self, now: Option<&str>, earlier: &str) -> bool;

    /// Returns true if nothing is left in a text but what a new file has anyway.
    fn is_bare(&self, text: &str) -> bool;

    /// How far a file is as it should be.
    fn look(&self, text: Option<&str>) -> Result<ConnectionState, SettingsFileError>;
}

impl FileEditor for FileContent {
    fn wire(&self, text: Option<&str>) -> Result<String, SettingsFileError> {
        match (self, text) {
            (Self::Json(agent, entries), text) => {
                let text = text.unwrap_or_default();
                // The place to report is the one in the file as it is; an empty file is not even JSON.
                if !is_blank(text) {
                    syntax::check(agent, text)?;
                }
                let wired = json::wire(text, entries)?;
                syntax::check(agent, &wired).map(|()| wired)
            }
            (Self::Table(name, fields), text) => table::wire(text.unwrap_or_default(), name, fields),
            (Self::Block(block), text) => markdown::wire(text.unwrap_or_default(), block),
            (Self::Lines(wanted), text) => lines::wire(text.unwrap_or_default(), wanted),
            (Self::Whole { text: whole, .. }, None) => Ok(whole.clone()),
            (Self::Whole { text: whole, head }, Some(text)) => match text.starts_with(head) {
                true => Ok(whole.clone()),
                false => {
                    Err(SettingsFileError::whole("a file of this name already exists, and punch did not create it"))
                }
            },
        }
    }

    fn unwire(&self, text: &str, kept: &[Vec<String>]) -> Result<Option<String>, SettingsFileError> {
        match self {
            Self::Json(_, entries) => json::unwire(text, entries, kept).map(Some),
            Self::Table(name, _) => table::unwire(text, name).map(Some),
            Self::Block(_) => Ok(Some(markdown::unwire(text)?)),
            Self::Lines(gone) => Ok(Some(lines::unwire(text, gone)?)),
            Self::Whole { text: whole, .. } => Ok(if text == whole { None } else { Some(text.to_owned()) }),
        }
    }

    fn containers(&self, text: Option<&str>) -> Vec<Vec<String>> {
        match (self, text) {
            (Self::Json(_, entries), Some(text)) => json::containers(text, entries),
            _ => Vec::new(),
        }
    }

    fn foreign(&self, text: &str) -> Result<serde_json::Value, SettingsFileError> {
        Ok(match self {
            Self::Json(_, entries) => foreign::of_json(text, entries)?,
            Self::Table(name, _) => foreign::of_toml(text, name)?,
            Self::Block(_) => markdown::unwire(text)?.trim_end().into(),
            Self::Lines(_) => lines::foreign(text)?.into(),
            Self::Whole { .. } => serde_json::Value::Null,
        })
    }

    fn still_holds(&self, now: Option<&str>, earlier: &str) -> bool {
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

    fn is_bare(&self, text: &str) -> bool {
        match self {
            Self::Json(_, entries) => json::is_bare(text, entries),
            Self::Table(..) | Self::Block(_) | Self::Lines(_) => is_blank(text),
            Self::Whole { .. } => false,
        }
    }

    fn look(&self, text: Option<&str>) -> Result<ConnectionState, SettingsFileError> {
        let Some(text) = text else { return Ok(ConnectionState::No) };
        if let Self::Whole { text: whole, head } = self {
            return Ok(match (text == whole, text.starts_with(head)) {
                (true, _) => ConnectionState::Yes,
                (false, true) => ConnectionState::Partly,
                (false, false) => ConnectionState::No,
            });
        }
        if self.wire(Some(text))? == text {
            return Ok(ConnectionState::Yes);
        }
        let without = self.unwire(text, &self.containers(Some(text)))?;
        Ok(if without.as_deref() == Some(text) { ConnectionState::No } else { ConnectionState::Partly })
    }
}
