//! What installing and uninstalling would change, file by file. Nothing is written here.

use std::path::{Path, PathBuf};

use punch_serve::hook::Host;
use punch_serve::wiring::{Content, Patch, Target, Wrong, changes};

use super::file;
use super::place::Place;
use super::record::Record;
use crate::failure::Failure;

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is made.
    Make,
    /// It is changed.
    Change,
    /// It is removed.
    Remove,
    /// It is as it should be.
    Keep,
    /// It stays though it is ours, because a person changed it.
    Leave,
}

impl Action {
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
pub struct Step {
    /// The agents it is for.
    pub hosts: Vec<Host>,
    /// The file as agents name it.
    pub path: PathBuf,
    /// The file with links followed.
    pub real: PathBuf,
    /// What is in it now; `None` if it is not there.
    pub before: Option<String>,
    /// What will be; `None` if it will not be there.
    pub after: Option<String>,
    /// What happens.
    pub action: Action,
    /// The whole file is ours.
    whole: bool,
    /// The record until now.
    pub old: Option<Record>,
    /// The record from then on.
    pub new: Option<Record>,
}

impl Step {
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

/// What wires a file for some agents.
pub fn install(place: &Place, hosts: &[Host], target: &Target) -> Result<Step, Failure> {
    let real = file::real(place, &target.path)?;
    let before = file::read(&real)?;
    let content = &target.content;
    let after = content.wire(before.as_deref()).map_err(|wrong| refused(&target.path, &wrong))?;
    let old = Record::load(&place.records, &real);
    let step = |action, after, old, new| {
        let (hosts, path) = (hosts.to_vec(), target.path.clone());
        let whole = matches!(target.content, Content::Whole { .. });
        Step { hosts, path, real: real.clone(), before: before.clone(), after, action, whole, old, new }
    };
    if before.as_ref() == Some(&after) {
        let mut new = old.clone();
        if let Some(record) = &mut new {
            name(record, hosts);
        }
        return Ok(step(Action::Keep, Some(after), old, new));
    }
    let origin = origin(content, before.as_deref(), old.as_ref()).map_err(|wrong| refused(&target.path, &wrong))?;
    let mut new = match &old {
        Some(old) if before.is_some() => old.clone(),
        _ => Record {
            path: real.clone(),
            agents: Vec::new(),
            made_file: before.is_none(),
            made_folders: missing_folders(&real),
            kept: content.containers(before.as_deref()),
            patch: Patch::back("", ""),
            backup: None,
        },
    };
    new.patch = Patch::back(&origin, &after);
    name(&mut new, hosts);
    let action = if before.is_none() { Action::Make } else { Action::Change };
    Ok(step(action, Some(after), old, Some(new)))
}

/// Several agents may read the same file.
fn name(record: &mut Record, hosts: &[Host]) {
    for host in hosts.iter().map(|host| host.name()) {
        if !record.agents.iter().any(|agent| agent == host) {
            record.agents.push(host.to_owned());
        }
    }
}

/// The text as it was before we ever came, as far as that can be told.
fn origin(content: &Content, before: Option<&str>, record: Option<&Record>) -> Result<String, Wrong> {
    let (Some(before), Some(record)) = (before, record) else { return Ok(before.unwrap_or_default().to_owned()) };
    match record.patch.undo(before) {
        Some(origin) => Ok(origin),
        None => Ok(content.unwire(before, &record.kept)?.unwrap_or_default()),
    }
}

/// What takes the wiring for some agents out of a file. A file that cannot be read was not wired by us.
pub fn uninstall(place: &Place, hosts: &[Host], target: &Target) -> Result<Step, Failure> {
    let (real, before, old) = match file::real(place, &target.path) {
        Err(_) => (target.path.clone(), None, None),
        Ok(real) => match (file::read(&real), Record::load(&place.records, &real)) {
            (Err(_), None) => (real, None, None),
            (Err(failure), Some(_)) => return Err(failure),
            (Ok(before), old) => (real, before, old),
        },
    };
    let step = |action, after, old, new| {
        let (hosts, path) = (hosts.to_vec(), target.path.clone());
        let whole = matches!(target.content, Content::Whole { .. });
        Step { hosts, path, real: real.clone(), before: before.clone(), after, action, whole, old, new }
    };
    let Some(text) = before.as_deref() else { return Ok(step(Action::Keep, None, old, None)) };
    // Whatever is wrong with a file that does not even name us is none of our business.
    if old.is_none() && !text.contains("punch") {
        return Ok(step(Action::Keep, before.clone(), None, None));
    }
    if let Some(record) = &old {
        let gone = |agent: &&String| hosts.iter().any(|host| host.name() == agent.as_str());
        let others: Vec<String> = record.agents.iter().filter(|agent| !gone(agent)).cloned().collect();
        if !others.is_empty() {
            let new = Record { agents: others, ..record.clone() };
            return Ok(step(Action::Keep, before.clone(), old, Some(new)));
        }
    }
    let made = old.as_ref().is_some_and(|record| record.made_file);
    if let Some(origin) = old.as_ref().and_then(|record| record.patch.undo(text)) {
        let after = if made { None } else { Some(origin) };
        let action = if made { Action::Remove } else { Action::Change };
        return Ok(step(action, after, old, None));
    }
    let kept = old.as_ref().map_or(&[][..], |record| &record.kept);
    let left = target.content.unwire(text, kept).map_err(|wrong| refused(&target.path, &wrong))?;
    let after = left.filter(|left| !(made && target.content.is_bare(left)));
    let action = match &after {
        None => Action::Remove,
        Some(after) if after == text && matches!(target.content, Content::Whole { .. }) => Action::Leave,
        Some(after) if after == text => Action::Keep,
        Some(_) => Action::Change,
    };
    Ok(step(action, after, old, None))
}

/// Folders above a file that are not there, outermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> =
        path.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

fn refused(path: &Path, wrong: &Wrong) -> Failure {
    let message = format!("`{}` cannot be changed: {}", path.display(), wrong.message());
    Failure::refused("invalid_configuration", message, "mend that place and try again; nothing was changed")
}
