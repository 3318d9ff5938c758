//! Settings that do not count, because the user has not approved them: from a project's file, or from the variables of an
//! agent.

use std::path::Path;

use punch_core::text;

use super::load::{Layer, LocatedValue};
use super::scalar::WrittenValue;
use super::{Authority, Key, SettingOrigin};
use crate::verify::Consents;

/// A setting that is ignored. The project's file can come with an archive or be written by an agent, and an agent chooses
/// the variables of its own shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredSetting {
    /// The name of the setting.
    pub key: String,
    /// Its value, as in a file.
    pub value: String,
    /// The place where the setting was written.
    pub place: SettingOrigin,
}

impl IgnoredSetting {
    /// Says what is wrong.
    pub fn message(&self) -> String {
        let why = match self.place {
            _ if self.needs_own_file() => "it counts only in your own settings file",
            SettingOrigin::Env(_) => "it needs your approval, and this shell belongs to an agent",
            SettingOrigin::File { .. } | SettingOrigin::Flag | SettingOrigin::Default => "you have not approved it",
        };
        format!("`{}` in {} is ignored: {why}", self.key, text::neutral(&self.place.to_string()))
    }

    /// The value as one would type it.
    pub(crate) fn typed(&self) -> String {
        toml_text(&self.value)
    }

    /// The file that has it, if the user could approve it; a variable of an agent's shell cannot be approved.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.place {
            SettingOrigin::File { path, .. } if !self.needs_own_file() => Some(path),
            SettingOrigin::File { .. } | SettingOrigin::Env(_) | SettingOrigin::Flag | SettingOrigin::Default => None,
        }
    }

    fn needs_own_file(&self) -> bool {
        Key::named(&self.key).is_some_and(|key| matches!(key.authority, Authority::OwnFile))
    }

    /// What to type to approve it.
    pub fn hint(&self) -> String {
        if let SettingOrigin::Env(_) = self.place
            && !self.needs_own_file()
        {
            return "ask the user to change the setting".to_owned();
        }
        let plain = self.typed();
        let value = text::shell(&plain);
        format!("if you want it, run `punch config set {} {}`", self.key, text::neutral(&value))
    }
}

/// Takes settings out of a source that count only in the user's own file. The default is safe wherever it comes from.
pub(super) fn outside_own_file(layer: &mut Layer) -> Vec<IgnoredSetting> {
    let mut out = Vec::new();
    layer.retain(|name, found| {
        let Some(key) = Key::named(name).filter(|key| matches!(key.authority, Authority::OwnFile)) else { return true };
        let value = (key.check)(&found.scalar).flatten().unwrap_or_default();
        let default = (key.check)(&WrittenValue::Loose(key.default.to_owned())).flatten().unwrap_or_default();
        if value == default {
            return true;
        }
        out.push(IgnoredSetting { key: name.clone(), value, place: found.place.clone() });
        false
    });
    out
}

/// Takes settings out of a source that need an approval and have none. `weaker` is what counts without it.
pub(super) fn unapproved(
    layer: &mut Layer,
    weaker: impl Fn(&str) -> Option<LocatedValue>,
    approvals: Option<&Consents>,
) -> Vec<IgnoredSetting> {
    let mut out = Vec::new();
    layer.retain(|name, found| {
        let Some(key) = Key::named(name) else { return true };
        let Authority::Approval { rank } = key.authority else { return true };
        let value = (key.check)(&found.scalar).flatten().unwrap_or_default();
        let without = weaker(name).map_or_else(|| WrittenValue::Loose(key.default.to_owned()), |found| found.scalar);
        let without = (key.check)(&without).flatten().unwrap_or_default();
        let strict = |value: &str| rank.and_then(|rank| rank(&toml_text(value)));
        let tightens = strict(&value).zip(strict(&without)).is_some_and(|(given, needed)| given >= needed);
        let changes_nothing = without == value;
        // An empty text sets nothing.
        if value.is_empty()
            || changes_nothing
            || tightens
            || approvals.is_some_and(|approvals| approvals.has_setting(name, &value))
        {
            return true;
        }
        out.push(IgnoredSetting { key: name.clone(), value, place: found.place.clone() });
        false
    });
    out
}

/// A value of a file as one would type it.
#[cfg(not(feature = "files"))]
fn toml_text(value: &str) -> String {
    serde_json::from_str(value).unwrap_or_else(|_| value.to_owned())
}

/// A value of a file as one would type it.
#[cfg(feature = "files")]
fn toml_text(value: &str) -> String {
    let parsed = value.parse::<toml_edit::Value>().ok();
    parsed.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_else(|| value.to_owned())
}
