//! Who uses the store, and whether its file was exchanged while nobody did. A log that stays behind belongs to the file
//! it was written for: laid over another one, as when somebody copies an old store back by hand, it makes ruins. So the
//! last one to leave notes what the file looks like, whoever writes next takes the note away first, and a file that does
//! not fit its note is checked from end to end before it is used. Everybody holds a shared lock on the note, which tells
//! who is last. Missing notes and unsupported locks do no harm: they only mean that nothing is known.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::open;
use crate::platform;

/// Longer is no note of ours.
const LONGEST: u64 = 128;

/// What a note that was taken away begins with.
const GONE: &str = "-";

/// Held as long as the store is open.
#[derive(Debug)]
pub(super) struct Presence {
    store: PathBuf,
    file: File,
    /// What the file of notes says.
    note: Mutex<String>,
}

impl Presence {
    /// Comes in; `None` where no lock can be had, as in a folder that cannot be written.
    pub fn enter(store: &Path) -> Option<Self> {
        let file = platform::open_lock(&store.with_extension("use")).ok()?;
        file.try_lock_shared().ok()?;
        let mut note = String::new();
        (&file).take(LONGEST).read_to_string(&mut note).ok()?;
        if note.starts_with(GONE) {
            note.clear();
        }
        Some(Self { store: store.to_owned(), file, note: Mutex::new(note) })
    }

    /// Whether there is a log that was left beside another file, or beside this one before it was changed.
    pub fn is_strange(&self) -> bool {
        let note = self.note.lock().unwrap_or_else(PoisonError::into_inner);
        !note.is_empty() && log_bytes(&self.store) > 0 && look(&self.store).is_some_and(|now| now != *note)
    }

    /// The file is about to change: what is noted about it is not true any more.
    pub fn stir(&self) {
        let mut note = self.note.lock().unwrap_or_else(PoisonError::into_inner);
        if !note.is_empty() && self.write(GONE).is_ok() {
            note.clear();
        }
    }

    /// Whether nobody else is here, for now.
    pub fn is_alone(&self) -> bool {
        let alone = self.file.try_lock().is_ok();
        // Whoever comes in next must find the door open.
        alone && self.file.try_lock_shared().is_ok()
    }

    /// Leaves a log behind. Only the last to leave notes anything.
    pub fn leave(&self) {
        let mut note = self.note.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(now) = look(&self.store).filter(|now| *now != *note) else { return };
        if self.file.try_lock().is_ok() {
            let _ = self.write(&now);
            *note = now;
        }
    }

    /// In place: every note is as long as the one before, and changing the length of a file costs much more.
    fn write(&self, text: &str) -> io::Result<()> {
        let mut file = &self.file;
        file.rewind()?;
        file.write_all(text.as_bytes())
    }
}

/// Bytes of the log beside a store.
pub(super) fn log_bytes(store: &Path) -> u64 {
    fs::metadata(&open::companions(store)[0]).map_or(0, |log| log.len())
}

fn look(store: &Path) -> Option<String> {
    platform::appearance(store).ok()
}
