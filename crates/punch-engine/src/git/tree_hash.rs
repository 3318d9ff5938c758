//! Detects whether a worktree has changed: one hash over the commit and every file that differs from it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use punch_store::platform;
use sha2::{Digest, Sha256};

use super::repository::ANSWER;
use super::{Git, status};
use crate::verify::hex;

/// The number of bytes of changed files that are read. Beyond that, size and time represent the content of a file.
const READ: u64 = 64 << 20;

impl Git {
    /// Hashes the commit and what every file that differs from it holds, files that git does not know included. Ignored
    /// files do not count. What is staged makes no difference.
    pub fn tree_hash(&self) -> io::Result<String> {
        let answer =
            self.ask(&["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all"], None, ANSWER)?;
        let Ok(text) = std::str::from_utf8(&answer) else { return Err(io::ErrorKind::InvalidData.into()) };
        let status = status::read(text.as_bytes());
        let mut names: Vec<&String> = status.modified.iter().chain(&status.untracked).collect();
        names.sort_unstable();
        names.dedup();
        let (mut hash, mut room) = (Sha256::new(), READ);
        hash.update(status.commit.unwrap_or_default());
        for name in names {
            hash.update([0]);
            hash.update(name);
            hash.update([0]);
            add_file(&mut hash, &self.root.join(name), &mut room)?;
        }
        Ok(hex(&hash.finalize()))
    }
}

fn add_file(hash: &mut Sha256, path: &Path, room: &mut u64) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            hash.update(b"gone");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    if found.is_symlink() {
        hash.update(b"link");
        hash.update(fs::read_link(path)?.as_os_str().as_encoded_bytes());
        return Ok(());
    }
    if !found.is_file() {
        // A repository inside this one: its own commit is not looked at.
        hash.update(b"other");
        return Ok(());
    }
    let runs = platform::mode(&found).is_some_and(|mode| mode & 0o111 != 0);
    hash.update(if runs { b"program" } else { b"written" });
    hash.update(found.len().to_le_bytes());
    if found.len() > *room {
        hash.update(format!("{:?}", found.modified()?));
        return Ok(());
    }
    *room -= found.len();
    let (mut file, mut chunk) = (File::open(path)?, vec![0; 64 * 1024]);
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(()),
            read => hash.update(&chunk[..read]),
        }
    }
}
