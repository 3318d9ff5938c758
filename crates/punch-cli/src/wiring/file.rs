//! A file of an agent: its real path and its content. Links are followed as far as is safe.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use punch_agents::settings::ConnectionLevel;

use super::place::WiringPlace;
use crate::failure::Failure;
use crate::files;

/// Larger files are nobody's settings.
const LARGEST: u64 = 16 << 20;

/// Where a file is once links are followed. One that is not there yet is named below the folder that is.
///
/// In a project a link must stay inside it: whoever wrote the project must not choose which files of the user change.
pub fn real(place: &WiringPlace, path: &Path) -> Result<PathBuf, Failure> {
    let real = resolved(path)?;
    if place.level != ConnectionLevel::User && path.starts_with(&place.roots.project) {
        let top = resolve(&place.roots.project).map_err(|cause| files::failed(path, cause))?;
        if !real.starts_with(&top) {
            let message = format!("`{}` leads out of the project, to `{}`", path.display(), real.display());
            return Err(Failure::refused("outside", message, "replace the link with a file, or use `--user`"));
        }
    }
    Ok(real)
}

/// A path with links followed, wherever they lead.
pub fn resolved(path: &Path) -> Result<PathBuf, Failure> {
    resolve(path).map_err(|cause| files::failed(path, cause))
}

fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut missing = Vec::new();
    let mut found = path;
    loop {
        match found.canonicalize() {
            Ok(real) => return Ok(missing.iter().rev().fold(real, |path, name| path.join(name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if found.symlink_metadata().is_ok() {
                    return Err(io::Error::other("it is a broken symbolic link"));
                }
                let (Some(parent), Some(name)) = (found.parent(), found.file_name()) else { return Err(error) };
                missing.push(name.to_owned());
                found = parent;
            }
            Err(error) => return Err(error),
        }
    }
}

/// The text of a file; `None` if it is not there.
pub fn read(path: &Path) -> Result<Option<String>, Failure> {
    let failed = |cause| files::failed(path, cause);
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if !found.is_file() {
        return Err(failed(io::Error::other("it is not a file")));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(failed(io::Error::other(format!("it is larger than {} MiB", LARGEST >> 20))));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        failed(io::Error::other(format!("not UTF-8 text (byte {at})")))
    })?;
    Ok(Some(text))
}
