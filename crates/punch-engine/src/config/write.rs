//! `config set` and `config unset`: one setting in one file, checked before it is written, written whole or not at
//! all.

use std::{io, path::Path};

use punch_store::{platform, replace_file};

use super::{ConfigError, SettingOrigin, check::check, edit, file, key, scalar::WrittenValue};

/// The owner of the settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingScope {
    /// The project's, in the store folder, which must exist. Private like the store.
    Project,
    /// The user's. Its folder is made if it is missing.
    User,
}

/// Writes `name = value` into the file, making it if it is missing. The rest of the file stays as it is, to the byte.
///
/// Refused if the value does not fit, or if anything else in the file is wrong: a file that is written was understood.
pub fn set(path: &Path, scope: SettingScope, name: &str, value: &str) -> Result<(), ConfigError> {
    let toml = check(name, &WrittenValue::Loose(value.to_owned()), || SettingOrigin::Flag)?;
    let Some(toml) = toml else { return unset(path, scope, name).map(|_| ()) };
    change(path, scope, |path, text| {
        let before = file::checked(path, text)?;
        let new = edit::put(path, text, name, &toml)?;
        let after = file::checked(path, &new)?;
        // What an editor of text may get wrong, it must not get onto the disk.
        let others = |name_of: &String| name_of != name;
        let same = before.keys().filter(|key| others(key)).eq(after.keys().filter(|key| others(key)))
            && before.iter().filter(|(key, _)| others(key)).all(|(key, entry)| after[key].scalar == entry.scalar)
            && after.get(name).is_some_and(|entry| {
                check(name, &entry.scalar, || SettingOrigin::Flag)
                    .is_ok_and(|written| written.as_deref() == Some(&toml))
            });
        if same { Ok(Some(new)) } else { Err(by_hand(path)) }
    })
    .map(|_| ())
}

/// The value that a file has for a setting, in the form of a file; `None` if it says nothing.
pub fn written(path: &Path, name: &str) -> Result<Option<String>, ConfigError> {
    let Some(entry) = file::load(path)?.remove(name) else { return Ok(None) };
    check(name, &entry.scalar, || SettingOrigin::File { path: path.to_owned(), line: entry.line })
}

/// Removes the setting from the file; returns whether it was there. Also works for unknown names, so that a file can be
/// fixed.
pub fn unset(path: &Path, scope: SettingScope, name: &str) -> Result<bool, ConfigError> {
    change(path, scope, |path, text| {
        let mut before = file::parse(path, text)?;
        let Some(new) = edit::take(path, text, name)? else {
            return match key::lookup(name) {
                Some(_) => Ok(None),
                None => Err(ConfigError::UnknownKey {
                    place: SettingOrigin::Flag,
                    key: name.to_owned(),
                    near: key::nearest(name),
                }),
            };
        };
        let after = file::parse(path, &new)?;
        before.remove(name);
        let same =
            before.keys().eq(after.keys()) && before.iter().all(|(key, entry)| after[key].scalar == entry.scalar);
        if same { Ok(Some(new)) } else { Err(by_hand(path)) }
    })
}

/// Reads, edits and replaces the file while other processes that do the same wait. Tells whether it changed.
fn change(
    path: &Path,
    scope: SettingScope,
    edit: impl Fn(&Path, &str) -> Result<Option<String>, ConfigError>,
) -> Result<bool, ConfigError> {
    // Many users keep their own configuration elsewhere and link to it: the link stays. A link in a store folder may come
    // from an agent or a clone and could lead to any file, so it is refused.
    let path = match scope {
        SettingScope::User => path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        SettingScope::Project => path.to_owned(),
    };
    let not_written = |error: io::Error| ConfigError::NotWritten { path: path.clone(), cause: error.to_string() };
    let folder = path.parent().unwrap_or(&path);
    if scope == SettingScope::User && !folder.exists() {
        // Tried before the folder is made: a refused edit leaves nothing behind.
        if edit(&path, "")?.is_none() {
            return Ok(false);
        }
        platform::create_private_folders(folder).map_err(not_written)?;
    }
    let _lock = platform::lock_folder(folder);
    let text = file::read(&path)?.unwrap_or_default();
    match edit(&path, &text)? {
        Some(new) if new != text => {
            let mode = if scope == SettingScope::Project { 0o600 } else { 0o644 };
            replace_file(&path, new.as_bytes(), mode).map_err(not_written).map(|()| true)
        }
        Some(_) => Ok(true),
        None => Ok(false),
    }
}

fn by_hand(path: &Path) -> ConfigError {
    let cause = "its form is unusual, please edit it by hand".to_owned();
    ConfigError::NotWritten { path: path.to_owned(), cause }
}
