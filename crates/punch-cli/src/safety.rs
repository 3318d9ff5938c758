//! The copy in the user's state folder: renewed after a commit, offered when the store is gone.

use std::path::{Path, PathBuf};
use std::time::Duration;

use punch_core::time;
use punch_engine::copies;
use punch_engine::locate::Location;
use punch_store::{LostWrites, name_of, revisions_in};

use crate::{environment, output};

/// Where the store is and where its copy goes.
pub struct Safety {
    store: PathBuf,
    copy: PathBuf,
}

impl Safety {
    /// The places for a store; `None` without a home folder, and for a store on a server, which has its own backups.
    pub fn of(location: &Location) -> Option<Self> {
        if location.server.is_some() {
            return None;
        }
        let copy = copies::copy_of(&environment::state_home()?, &location.database);
        Some(Self { store: location.database.clone(), copy })
    }

    /// The copy, which need not exist.
    pub fn copy(&self) -> &Path {
        &self.copy
    }

    /// Renews the copy if it is time. Called when the answer is out already; whatever goes wrong shows in `doctor`.
    pub fn keep(&self) {
        if copies::is_due(&self.copy) {
            let _ = copies::renew(&self.copy, &self.store);
        }
    }

    /// Renews the copy in a long-running process, and only if the store has changed since.
    pub fn keep_changed(&self) {
        let time = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
        let mut log = self.store.clone().into_os_string();
        log.push("-wal");
        if time(&self.store).max(time(Path::new(&log))) > time(&self.copy) {
            self.keep();
        }
    }

    /// A store that is not there, though its copy is: says so.
    pub fn offer(&self) {
        if let Some(age) = copies::age(&self.copy) {
            let age = ago(age);
            output::remark(&format!(
                "note: `{}` is missing, but a copy from {age} exists\nhint: `punch store restore --copy` restores it",
                self.store.display()
            ));
        }
    }

    /// What to type after the store has lost writes. Names the copy if it is one of this store.
    pub fn way_out(&self, lost: &LostWrites) -> String {
        let accept = "`punch store accept` continues with what is left";
        let copy = copies::age(&self.copy).zip(revisions_in(&self.copy).ok());
        let Some((age, (_, plans))) = copy.filter(|(_, (of, _))| name_of(&self.store).is_ok_and(|store| store == *of))
        else {
            return format!("there is no copy; {accept}");
        };
        let has = |name: &str| plans.iter().find(|(plan, _)| plan == name).map(|(_, revision)| *revision);
        let held: Vec<String> = lost
            .plans
            .iter()
            .map(|plan| match has(&plan.name) {
                Some(revision) => format!("plan `{}` at revision {revision}", plan.name),
                None => format!("no plan `{}`", plan.name),
            })
            .collect();
        let held = if held.is_empty() { String::new() } else { format!(", with {}", held.join(", ")) };
        let (copy, age) = (self.copy.display(), ago(age));
        format!("`punch store restore --copy` restores the copy `{copy}` from {age}{held}; {accept}")
    }

    /// A loss was accepted: the copy, which may contain what was lost, must not be overwritten. Returns where it is
    /// kept.
    pub fn keep_after_loss(&self) -> Option<PathBuf> {
        self.copy.exists().then(|| copies::put_aside(&self.copy).ok())?
    }

    /// A new store is about to take the place of a lost one: its copy must not be overwritten.
    pub fn put_aside(&self) {
        if !self.copy.exists() {
            return;
        }
        if let Ok(aside) = copies::put_aside(&self.copy) {
            let (store, aside) = (self.store.display(), aside.display());
            output::remark(&format!(
                "note: `{store}` was missing, so punch created a new one; a copy of the previous one was kept\n\
                 hint: `punch store restore '{aside}'` restores it"
            ));
        }
    }
}

/// A time span in words, as rough as people say it.
pub fn ago(span: Duration) -> String {
    time::ago(i64::try_from(span.as_millis()).unwrap_or(i64::MAX))
}

/// A number with its noun: `1 plan`, `2 plans`.
pub fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Bytes as people read them.
#[expect(clippy::cast_precision_loss, reason = "one digit behind the point is shown")]
pub fn bytes(count: u64) -> String {
    match count {
        0..1_024 => self::count(count, "byte"),
        1_024..1_048_576 => format!("{:.1} KB", count as f64 / 1_024.0),
        _ => format!("{:.1} MB", count as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_sizes_are_told_roughly() {
        let age = |seconds| ago(Duration::from_secs(seconds));
        assert_eq!(age(59), "a moment ago");
        assert_eq!(age(60), "1 minute ago");
        assert_eq!(age(7_300), "2 hours ago");
        assert_eq!(age(86_400 * 3), "3 days ago");
        assert_eq!(bytes(1_023), "1023 bytes");
        assert_eq!(bytes(1_536), "1.5 KB");
        assert_eq!(bytes(3 << 20), "3.0 MB");
    }
}
