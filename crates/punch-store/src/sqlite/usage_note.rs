//! A note beside the store about what its file looked like when the last process closed it. A log that stays behind belongs
//! to the file it was written for: next to another file, as when a user copies an old store back by hand, it destroys that
//! file. So the last process to exit records what the file looks like, the next writer invalidates the record first, and a
//! file that does not match its record is checked from end to end before it is used. Every process holds a shared lock on
//! the note, which shows which one is last. A missing note or an unsupported lock does no harm: then nothing is known.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::open;
use crate::platform;

/// The longest note that is read.
const LONGEST: u64 = 128;

/// How an invalidated note begins.
const GONE: &str = "-";

/// The note of a store, held as long as the store is open.
#[derive(Debug)]
pub(super) struct UsageNote {
    store: PathBuf,
    file: File,
    /// The text in the file; empty if it was invalidated.
    note: Mutex<String>,
}

impl UsageNote {
    /// Opens the note and takes a shared lock on it; `None` where that fails, as in a folder that cannot be written.
    pub fn enter(store: &Path) -> Option<Self> {
        let file = crate::update_own(&store.with_extension("use")).ok()?;
        file.try_lock_shared().ok()?;
        let mut note = String::new();
        (&file).take(LONGEST).read_to_string(&mut note).ok()?;
        if note.starts_with(GONE) {
            note.clear();
        }
        Some(Self { store: store.to_owned(), file, note: Mutex::new(note) })
    }

    /// Returns true if the log was written for another file, or for this file before it was exchanged.
    pub fn log_mismatch(&self) -> bool {
        let note = self.note.lock().unwrap_or_else(PoisonError::into_inner);
        !note.is_empty() && log_bytes(&self.store) > 0 && look(&self.store).is_some_and(|now| now != *note)
    }

    /// Invalidates the note, because the file is about to change.
    pub fn invalidate(&self) {
        let mut note = self.note.lock().unwrap_or_else(PoisonError::into_inner);
        if !note.is_empty() && self.write(GONE).is_ok() {
            note.clear();
        }
    }

    /// Returns true if no other process uses the store at this moment.
    pub fn is_alone(&self) -> bool {
        let alone = self.file.try_lock().is_ok();
        // Back to a shared lock, so that the next process gets one too.
        alone && self.file.try_lock_shared().is_ok()
    }

    /// Records what the file looks like, if this is the last process that uses the store. The log stays.
    pub fn record_on_exit(&self) {
        let mut note = self.note.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(now) = look(&self.store).filter(|now| *now != *note) else { return };
        if self.file.try_lock().is_ok() {
            let _ = self.write(&now);
            *note = now;
        }
    }

    /// Writes in place: every note has the same length, and changing the length of a file costs much more.
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
