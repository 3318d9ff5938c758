//! Where hooks tell their trouble: a file in the user's state folder that does not grow without end.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use punch_core::text;

use crate::environment;

/// A log of this size is put aside, in place of the one before.
const LARGEST: u64 = 256 * 1024;

/// Characters of a line.
const LONGEST: usize = 1_000;

/// Adds one line. A log that cannot be written is nobody's trouble.
pub fn say(path: Option<PathBuf>, line: &str) {
    let Some(path) = path.or_else(default) else { return };
    if let Some(folder) = path.parent() {
        let _ = fs::create_dir_all(folder);
    }
    if fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() > LARGEST) {
        let mut aside = path.clone().into_os_string();
        aside.push(".1");
        let _ = fs::rename(&path, aside);
    }
    let line =
        format!("{} {}\n", punch_core::time::utc(environment::clock()()), text::clip(&text::neutral(line), LONGEST));
    // One write per line: lines of hooks that run at once do not mix.
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}

fn default() -> Option<PathBuf> {
    Some(environment::state_home()?.join("punch").join("hook.log"))
}
