//! Labels: short words that group todos across phases. Every [`Label`] value is valid.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Refusal;

/// A short word on a todo: lower case letters, digits and `-_./:`, at most [`Label::LONGEST`] of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Label(String);

impl Label {
    /// The longest label, in characters.
    pub const LONGEST: usize = 50;

    /// How many labels one todo may have.
    pub const MOST: usize = 20;

    /// Reads a label; anything else is refused with the nearest valid one.
    pub fn parse(word: &str) -> Result<Self, Refusal> {
        let valid = !word.is_empty() && word.len() <= Self::LONGEST && word.chars().all(is_label_char);
        if valid { Ok(Self(word.to_owned())) } else { Err(Refusal::InvalidLabel { label: word.to_owned() }) }
    }

    /// Reads several labels.
    pub fn parse_all<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<BTreeSet<Self>, Refusal> {
        words.into_iter().map(Self::parse).collect()
    }

    /// The word itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if text may show it as `#label`: it begins with a letter, so `#12` stays a reference to an issue.
    pub fn is_hashtag(&self) -> bool {
        self.0.starts_with(|c: char| c.is_ascii_lowercase())
    }

    /// The valid label that a word resembles, if there is one.
    pub(crate) fn nearest(word: &str) -> Option<Self> {
        let word = word.trim().trim_start_matches('#').to_lowercase();
        let word: String = word.chars().map(|c| if is_label_char(c) { c } else { '-' }).take(Self::LONGEST).collect();
        let word = word.trim_matches('-');
        (!word.is_empty()).then(|| Self(word.to_owned()))
    }
}

const fn is_label_char(c: char) -> bool {
    matches!(c, 'a'..='z' | '0'..='9' | '-' | '_' | '.' | '/' | ':')
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Label {
    type Error = String;
    fn try_from(word: String) -> Result<Self, String> {
        Self::parse(&word).map_err(|refusal| refusal.message())
    }
}

impl From<Label> for String {
    fn from(label: Label) -> Self {
        label.0
    }
}

/// What an edit does to the labels of a todo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LabelEdit {
    /// The labels stay.
    #[default]
    Keep,
    /// The todo has exactly these labels afterwards.
    Set(BTreeSet<Label>),
    /// Some labels come and some go; all others stay, whoever set them. A label in both comes.
    Change {
        /// Labels that come.
        add: BTreeSet<Label>,
        /// Labels that go.
        remove: BTreeSet<Label>,
    },
}

impl LabelEdit {
    /// Returns the edit that leads from one set of labels to another and keeps what others changed in between.
    pub fn between(old: &BTreeSet<Label>, new: &BTreeSet<Label>) -> Self {
        if old == new {
            return Self::Keep;
        }
        Self::Change { add: new.difference(old).cloned().collect(), remove: old.difference(new).cloned().collect() }
    }

    /// The labels after the edit.
    pub fn applied(&self, labels: &BTreeSet<Label>) -> BTreeSet<Label> {
        match self {
            Self::Keep => labels.clone(),
            Self::Set(labels) => labels.clone(),
            Self::Change { add, remove } => labels.difference(remove).chain(add).cloned().collect(),
        }
    }
}
