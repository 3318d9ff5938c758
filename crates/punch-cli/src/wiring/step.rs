//! What installing or uninstalling would change, file by file. Nothing is written here.

use std::path::{Path, PathBuf};

use punch_agents::Adapter;
use punch_agents::settings::{ConnectionLevel, FileContent, SettingsFile};
use punch_serve::wiring::{FileEditor as _, OtherEntries, SettingsFileError, changes, connect, disconnect};

use super::file;
use super::place::WiringPlace;
use super::record::FileRecord;
use crate::failure::Failure;

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// The file is created.
    Make,
    /// The file is changed.
    Change,
    /// The file is deleted.
    Remove,
    /// The file is already as it should be.
    Keep,
    /// It stays though it is ours, because the user changed it.
    Leave,
}

impl FileAction {
    /// The word for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Make => "made",
            Self::Change => "changed",
            Self::Remove => "removed",
            Self::Keep => "unchanged",
            Self::Leave => "left",
        }
    }
}

/// One file with what is in it and what will be.
pub struct FileStep {
    /// The agents it is for; none for a file of git.
    pub adapters: Vec<&'static Adapter>,
    /// The level of these settings.
    pub level: ConnectionLevel,
    /// The file as agents name it.
    pub path: PathBuf,
    /// The file with links followed.
    pub real: PathBuf,
    /// What is in it now; `None` if it is not there.
    pub before: Option<String>,
    /// What will be; `None` if it will not be there.
    pub after: Option<String>,
    /// What happens.
    pub action: FileAction,
    /// The whole file is ours.
    whole: bool,
    /// The record until now.
    pub old: Option<FileRecord>,
    /// The record from then on.
    pub new: Option<FileRecord>,
    /// The copy of an earlier text, if that has something which the file no longer has: it is not deleted.
    pub copy_stays: Option<PathBuf>,
}

impl FileStep {
    /// A change of a file that needs no record.
    pub fn bare(
        path: PathBuf,
        real: PathBuf,
        before: Option<String>,
        after: Option<String>,
        action: FileAction,
    ) -> Self {
        let (adapters, level, whole) = (Vec::new(), ConnectionLevel::Personal, false);
        Self { adapters, level, path, real, before, after, action, whole, old: None, new: None, copy_stays: None }
    }

    /// The difference as `diff -u` prints it; empty if there is none.
    pub fn diff(&self, shown: &str) -> String {
        if self.before == self.after {
            return String::new();
        }
        let name = |side: &Option<String>| if side.is_some() { shown.to_owned() } else { "/dev/null".to_owned() };
        let (before, after) = (self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default());
        let lines = match (self.whole, before.lines().count(), after.lines().count()) {
            // A program of ours is not read line by line.
            (true, old, new) => format!("@@ the whole file: {old} lines before, {new} after @@\n"),
            (false, ..) => changes(before, after),
        };
        format!("--- {}\n+++ {}\n{lines}", name(&self.before), name(&self.after))
    }
}

/// What connects some agents through a file.
pub fn install(place: &WiringPlace, adapters: &[&'static Adapter], target: &SettingsFile) -> Result<FileStep, Failure> {
    let real = file::real(place, &target.path)?;
    let before = file::read(&real)?;
    let content = &target.content;
    let old = FileRecord::load(&place.records, &real);
    let known = old.as_ref().map(|old| &old.history);
    let users: Vec<String> = adapters.iter().map(|adapter| user(adapter, target)).collect();
    let others = old.as_ref().is_some_and(|old| old.users.iter().any(|user| !users.contains(user)));
    // For texts that all agents read, others make no difference.
    let others = match others && !matches!(content, FileContent::Block(_) | FileContent::Whole { .. }) {
        true => OtherEntries::Present,
        false => OtherEntries::Absent,
    };
    let (after, history) =
        connect(content, before.as_deref(), known, others).map_err(|wrong| refused(&target.path, &wrong))?;
    let personal = place.level == ConnectionLevel::Personal;
    let same = before.as_ref() == Some(&after);
    let mut new = match &old {
        Some(old) if same => Some(old.clone()),
        // What came with a clone needs no record; what only this user has does.
        None if same && !personal => None,
        Some(old) if before.is_some() => Some(FileRecord { history, ..old.clone() }),
        old => Some(FileRecord {
            path: real.clone(),
            users: Vec::new(),
            personal,
            made_folders: old.iter().flat_map(|old| old.made_folders.clone()).chain(missing_folders(&real)).collect(),
            history,
            // The copy may be all that is left of a file that was deleted.
            backup: old.as_ref().and_then(|old| old.backup.clone()),
            excluded: Vec::new(),
        }),
    };
    if let Some(new) = &mut new {
        new.personal = personal;
        for user in users {
            if !new.users.contains(&user) {
                new.users.push(user);
            }
        }
    }
    let action = match (same, before.is_some()) {
        (true, _) => FileAction::Keep,
        (false, true) => FileAction::Change,
        (false, false) => FileAction::Make,
    };
    let (adapters, path, level) = (adapters.to_vec(), target.path.clone(), place.level);
    let whole = matches!(content, FileContent::Whole { .. });
    Ok(FileStep { adapters, level, path, real, before, after: Some(after), action, whole, old, new, copy_stays: None })
}

/// The name of an agent in a record.
fn user(adapter: &Adapter, target: &SettingsFile) -> String {
    match &target.project {
        Some(project) => format!("{} in {}", adapter.name, project.display()),
        None => adapter.name.to_owned(),
    }
}

/// What disconnects some agents from a file. A file that cannot be read was not connected by us.
pub fn uninstall(
    place: &WiringPlace,
    adapters: &[&'static Adapter],
    target: &SettingsFile,
) -> Result<FileStep, Failure> {
    let content = &target.content;
    let (real, before, old) = match file::real(place, &target.path) {
        Err(_) => (target.path.clone(), None, None),
        Ok(real) => match (file::read(&real), FileRecord::load(&place.records, &real)) {
            (Err(_), None) => (real, None, None),
            (Err(failure), Some(_)) => return Err(failure),
            (Ok(before), old) => (real, before, old),
        },
    };
    // A file that several agents could read may have been written for some of them only.
    let used = |adapter: &&&'static Adapter| {
        old.as_ref().is_some_and(|old: &FileRecord| old.users.contains(&user(adapter, target)))
    };
    let users: Vec<&'static Adapter> = adapters.iter().filter(used).copied().collect();
    let mut step = FileStep {
        adapters: if users.is_empty() { adapters.to_vec() } else { users },
        level: place.level,
        path: target.path.clone(),
        real,
        after: before.clone(),
        before,
        action: FileAction::Keep,
        whole: matches!(content, FileContent::Whole { .. }),
        new: old.clone(),
        old,
        copy_stays: None,
    };
    // The same file may hold an install of the other kind, which was not meant.
    if !place.owns(&target.path, step.old.as_ref()) {
        return Ok(step);
    }
    let gone: Vec<String> = adapters.iter().map(|adapter| user(adapter, target)).collect();
    let others = |record: &FileRecord| -> Vec<String> {
        record.users.iter().filter(|user| !gone.contains(user)).cloned().collect()
    };
    let others = step.old.as_ref().map_or_else(Vec::new, others);
    if let (Some(new), false) = (&mut step.new, others.is_empty()) {
        new.users.clone_from(&others);
        // One text for all its readers.
        if matches!(content, FileContent::Block(_) | FileContent::Whole { .. }) {
            return Ok(step);
        }
    }
    if others.is_empty() {
        step.new = None;
    }
    let Some(text) = step.before.clone() else {
        step.copy_stays = copy_to_keep(content, None, step.old.as_ref().filter(|_| others.is_empty()));
        return Ok(step);
    };
    // Whatever is wrong with a file that does not even mention us is none of our business.
    if step.old.is_none() && !text.contains("punch") {
        return Ok(step);
    }
    let known = step.old.as_ref().map(|old| &old.history);
    let present = if others.is_empty() { OtherEntries::Absent } else { OtherEntries::Present };
    let left = disconnect(content, &text, known, present).map_err(|wrong| refused(&target.path, &wrong))?;
    if let (Some(new), Some(history)) = (&mut step.new, left.history) {
        new.history = history;
    }
    step.action = match &left.text {
        None => FileAction::Remove,
        Some(after) if *after == text && step.whole => FileAction::Leave,
        Some(after) if *after == text => FileAction::Keep,
        Some(_) => FileAction::Change,
    };
    step.after = left.text;
    if step.new.is_none() {
        step.copy_stays = copy_to_keep(content, step.after.as_deref(), step.old.as_ref());
    }
    Ok(step)
}

/// The copy of an earlier text, unless everything in it that is not ours is still in the file.
fn copy_to_keep(content: &FileContent, after: Option<&str>, record: Option<&FileRecord>) -> Option<PathBuf> {
    let (path, _) = record?.backup.as_ref()?;
    let copied = file::read(path).ok().flatten()?;
    (!content.still_holds(after, &copied)).then(|| path.clone())
}

/// Folders above a file that are not there, outermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> =
        path.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// The failure that says why a file cannot be changed.
pub fn refused(path: &Path, wrong: &SettingsFileError) -> Failure {
    let message = format!("`{}` cannot be changed: {}", path.display(), wrong.message());
    Failure::refused("invalid_configuration", message, "fix that place and try again; nothing was changed")
}
