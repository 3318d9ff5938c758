//! The difference between two texts: shown to the user before anything is written, and stored so that the earlier text
//! can be restored from the later one, to the byte.

use punch_core::hash::fnv1a;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

/// How to get from a text back to the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPatch {
    /// What the later text is recognized by.
    after: String,
    /// Lines of the later text that are replaced: the first, how many, with what.
    hunks: Vec<(usize, usize, String)>,
}

impl TextPatch {
    /// The way back from `after` to `before`.
    pub fn back(before: &str, after: &str) -> Self {
        let diff = TextDiff::from_lines(before, after);
        let mut hunks: Vec<(usize, usize, String)> = Vec::new();
        let (mut line, mut open) = (0, false);
        for change in diff.iter_all_changes() {
            if change.tag() == ChangeTag::Equal {
                (line, open) = (line + 1, false);
                continue;
            }
            if !open {
                hunks.push((line, 0, String::new()));
                open = true;
            }
            if let Some((_, take, put)) = hunks.last_mut() {
                match change.tag() {
                    ChangeTag::Delete => put.push_str(change.value()),
                    ChangeTag::Insert | ChangeTag::Equal => (*take, line) = (*take + 1, line + 1),
                }
            }
        }
        Self { after: mark(after), hunks }
    }

    /// Whether this is the text that it leads back from.
    pub fn fits(&self, text: &str) -> bool {
        self.after == mark(text)
    }

    /// The earlier text, if this is the later one.
    pub fn undo(&self, text: &str) -> Option<String> {
        if !self.fits(text) {
            return None;
        }
        // The same split as the difference was made with.
        let diff = TextDiff::from_lines(text, "");
        let lines = diff.old_slices();
        let (mut out, mut at) = (String::new(), 0);
        for (start, take, put) in &self.hunks {
            out.push_str(&lines.get(at..*start)?.concat());
            out.push_str(put);
            at = start + take;
        }
        out.push_str(&lines.get(at..)?.concat());
        Some(out)
    }

    /// Returns the patch in its stored form.
    pub fn to_json(&self) -> Value {
        let hunks = self.hunks.iter().map(|(start, take, put)| json!([start, take, put]));
        json!({"after": self.after, "hunks": hunks.collect::<Vec<_>>()})
    }

    /// Reads a patch from its stored form.
    pub fn from_json(value: &Value) -> Option<Self> {
        let hunk = |hunk: &Value| {
            let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
            Some((number(&hunk[0])?, number(&hunk[1])?, hunk[2].as_str()?.to_owned()))
        };
        let hunks = value["hunks"].as_array()?.iter().map(hunk).collect::<Option<_>>()?;
        Some(Self { after: value["after"].as_str()?.to_owned(), hunks })
    }
}

/// The difference in the form that `diff -u` prints, without the names of the files.
pub fn changes(before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after).unified_diff().context_radius(3).to_string()
}

/// Length and a hash. Whoever could forge it could as well write the file.
fn mark(text: &str) -> String {
    format!("{}-{:016x}", text.len(), fnv1a(text.bytes()))
}
