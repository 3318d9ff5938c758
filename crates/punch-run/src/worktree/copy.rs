//! Copies files that git ignores, such as `.env`, from the user's worktree into a lane. Links are neither copied nor
//! followed, on either side, and nothing outside of the two worktrees is read or written.

use std::fs;
use std::io;
use std::path::{Component, Path};

use super::{Lane, Lanes, WorktreeError};

/// Files and bytes that are copied into one lane.
const FILES: usize = 1_000;
const BYTES: u64 = 100 << 20;

impl Lanes {
    /// Copies the ignored files that these globs match, as git reads them (`.env`, `config/*.local`, `**/secrets.json`).
    /// Returns how many were copied.
    pub fn copy_ignored(&self, lane: &Lane, globs: &[String]) -> Result<usize, WorktreeError> {
        if globs.is_empty() {
            return Ok(0);
        }
        let specs: Vec<String> = globs.iter().map(|glob| format!(":(glob){glob}")).collect();
        let mut arguments = vec!["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--"];
        arguments.extend(specs.iter().map(String::as_str));
        let files = self.git.records("list the ignored files", &arguments, &|record| !record.ends_with(b"/\0"))?;
        let failed = |path: &str, cause: io::Error| WorktreeError::Copy { path: path.into(), cause: cause.to_string() };
        let mut left = BYTES;
        for (at, file) in files.iter().enumerate() {
            if at == FILES {
                return Err(failed(file, io::Error::other(format!("more than {FILES} files match `run.copy`"))));
            }
            left = copy(self.git.root(), &lane.path, file, left).map_err(|cause| failed(file, cause))?;
        }
        Ok(files.len())
    }
}

/// Copies one file and returns how many bytes may still be copied.
fn copy(from: &Path, to: &Path, name: &str, left: u64) -> io::Result<u64> {
    let (source, target) = (plain(from, name)?, plain(to, name)?);
    let about = fs::symlink_metadata(&source)?;
    if !about.is_file() {
        return Err(io::Error::other("only regular files are copied, not links"));
    }
    let left = left.checked_sub(about.len()).ok_or_else(|| io::Error::other("`run.copy` matches more than 100 MB"))?;
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    if fs::symlink_metadata(&target).is_ok_and(|about| !about.is_file()) {
        return Err(io::Error::other("the worktree has something else in its place"));
    }
    fs::copy(&source, &target)?;
    Ok(left)
}

/// Returns the path of a name below a folder if no folder on the way is a link.
fn plain(root: &Path, name: &str) -> io::Result<std::path::PathBuf> {
    let mut path = root.to_owned();
    let mut parts = Path::new(name).components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(part) = part else { return Err(io::Error::other("its path leads out of the project")) };
        path.push(part);
        let is_folder = parts.peek().is_some();
        if is_folder && fs::symlink_metadata(&path).is_ok_and(|about| !about.is_dir()) {
            return Err(io::Error::other("a folder on its path is a link"));
        }
    }
    Ok(path)
}
