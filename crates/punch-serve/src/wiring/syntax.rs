//! What agents take for JSON. A file with more than that is one that its agent ignores as a whole: it is refused, because
//! wiring it would look done and do nothing.

use super::Wrong;
use super::jsonc::Tree;
use crate::hook::Host;

/// What an agent reads in a JSON file. Found out by trying, except for Cursor, of which nothing is known.
#[derive(Clone, Copy, Debug)]
pub struct Syntax {
    reader: &'static str,
    comments: bool,
    trailing_commas: bool,
    mark: bool,
}

impl Syntax {
    /// What an agent reads.
    pub const fn of(host: Host) -> Self {
        let (reader, comments, trailing_commas, mark) = match host {
            Host::Claude => ("Claude Code", false, false, true),
            Host::Codex => ("Codex", false, false, false),
            Host::Gemini => ("Gemini CLI", true, false, false),
            Host::Qwen => ("Qwen Code", true, false, true),
            Host::Opencode => ("OpenCode", true, true, true),
            Host::Cursor => ("Cursor", true, true, true),
        };
        Self { reader, comments, trailing_commas, mark }
    }

    /// Refuses what the agent does not read, at its place.
    pub fn check(&self, text: &str) -> Result<(), Wrong> {
        let tree = Tree::read(text)?;
        let mark = text.starts_with('\u{feff}').then_some(0);
        for (found, allowed, what) in [
            (mark, self.mark, "a byte order mark"),
            (tree.comment, self.comments, "a comment"),
            (tree.trailing_comma, self.trailing_commas, "a comma with nothing behind it"),
        ] {
            if let (Some(at), false) = (found, allowed) {
                let what = format!("{what}: {} ignores the whole file because of it", self.reader);
                return Err(Wrong::at(text, at, what));
            }
        }
        Ok(())
    }
}
