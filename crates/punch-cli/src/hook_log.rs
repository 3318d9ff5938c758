//! The log of problems in hooks: a file of bounded size in the user's state folder.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use punch_core::text;
use punch_store::{append_own, open_own, platform};

use crate::environment;

/// A log of this size is put aside, in place of the one before.
const LARGEST: u64 = 256 * 1024;

/// Characters of a line.
const LONGEST: usize = 1_000;

/// Bytes at the end of a log in which a line is looked for before it is added again.
const RECENT: u64 = 64 * 1024;

/// Adds one line, unless the log had the same text a short while ago. For trouble that stays until you look.
pub fn say_once(path: Option<PathBuf>, what: &str, text: &str) {
    let Some(path) = path.or_else(default) else { return };
    let line = format!("{what}: {text}");
    let shown = text::neutral(text);
    // Long enough to distinguish two problems, and short enough to leave out what changes by itself, such as an age.
    let known = shown.split("; ").next().unwrap_or_default();
    if !recent(&path).is_some_and(|log| log.contains(known)) {
        say(Some(path), &line);
    }
}

fn recent(path: &Path) -> Option<String> {
    let mut file = open_own(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(RECENT))).ok()?;
    let mut bytes = Vec::new();
    file.take(RECENT).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Adds one line. Errors are ignored: a log that cannot be written must not stop the work.
pub fn say(path: Option<PathBuf>, line: &str) {
    let Some(path) = path.or_else(default) else { return };
    if let Some(folder) = path.parent() {
        let _ = platform::create_private_folders(folder);
    }
    if fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() > LARGEST) {
        let mut aside = path.clone().into_os_string();
        aside.push(".1");
        let _ = fs::rename(&path, aside);
    }
    let line =
        format!("{} {}\n", punch_core::time::utc(environment::clock()()), text::clip(&text::neutral(line), LONGEST));
    // One write per line: lines of hooks that run at once do not mix.
    let _ = append_own(&path).and_then(|mut file| file.write_all(line.as_bytes()));
}

fn default() -> Option<PathBuf> {
    Some(environment::state_home()?.join("punch").join("hook.log"))
}
