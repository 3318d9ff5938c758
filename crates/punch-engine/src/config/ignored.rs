//! Settings of a project's file that do not count, because the user has not approved them.

use std::path::PathBuf;

use punch_core::text;

use super::load::{Found, Layer};
use super::scalar::Scalar;
use super::{Authority, Key, Place, Source};
use crate::verify::Consents;

/// A setting in the project's file that is ignored. Such a file can come with an archive or be written by an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Its name.
    pub key: String,
    /// Its value, as in a file.
    pub value: String,
    /// The file.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
}

impl Ignored {
    /// What is wrong.
    pub fn message(&self) -> String {
        let (path, line) = (self.path.display().to_string(), self.line);
        let why = "it can run commands or loosen a check, and you have not approved it";
        format!("`{}` in `{}` line {line} is ignored: {why}", self.key, text::neutral(&path))
    }

    /// What to type to approve it.
    pub fn hint(&self) -> String {
        let plain = toml_text(&self.value);
        let value = text::shell(&plain);
        format!("if you want it, run `punch config set {} {}`", self.key, text::neutral(&value))
    }
}

/// Takes settings out of the project's file that need an approval and have none. `weaker` is what counts without it.
pub(super) fn unapproved(
    project: &mut Layer,
    weaker: impl Fn(&str) -> Option<Found>,
    approvals: Option<&Consents>,
) -> Vec<Ignored> {
    let mut out = Vec::new();
    project.retain(|name, found| {
        let Some(key) = Key::named(name) else { return true };
        let Authority::Approval { rank } = key.authority else { return true };
        let value = (key.check)(&found.scalar).flatten().unwrap_or_default();
        let strict = |found: &Found| rank.and_then(|rank| rank(found.scalar.text()?));
        let needed = weaker(name).as_ref().map_or_else(|| rank.and_then(|rank| rank(key.default)), strict);
        let tightens = strict(found).zip(needed).is_some_and(|(given, needed)| given >= needed);
        let without = weaker(name).map_or_else(|| Scalar::Loose(key.default.to_owned()), |found| found.scalar);
        let changes_nothing = (key.check)(&without).flatten().unwrap_or_default() == value;
        // An empty text sets nothing.
        if value.is_empty()
            || changes_nothing
            || tightens
            || approvals.is_some_and(|approvals| approvals.has_setting(name, &value))
        {
            return true;
        }
        if let (Source::Project(path), Place::File { line, .. }) = (&found.source, &found.place) {
            out.push(Ignored { key: name.clone(), value, path: path.clone(), line: *line });
        }
        false
    });
    out
}

/// A value of a file as one would type it.
fn toml_text(value: &str) -> String {
    let parsed = value.parse::<toml_edit::Value>().ok();
    parsed.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_else(|| value.to_owned())
}
