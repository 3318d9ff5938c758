//! Archives: the program with its install script, and the Gemini extension, whose gallery wants the manifest at the
//! root of an archive.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::staging::{self, StagedFiles};
use super::{PackagedRelease, write};
use crate::process;

/// The scripts that every archive carries.
const SCRIPTS: [(&str, &str); 2] =
    [("install.sh", include_str!("install.sh")), ("uninstall.sh", include_str!("uninstall.sh"))];

/// Packs the program.
pub fn pack(release: &PackagedRelease, tree: &StagedFiles) -> Result<PathBuf, String> {
    let name = format!("punch-{}-{}", release.version, release.target);
    let folder = release.room.join("archive").join(&name);
    staging::copy_folder(&tree.root, &folder)?;
    for (name, text) in SCRIPTS {
        write(&folder.join(name), text)?;
        executable(&folder.join(name))?;
    }
    tar(release, &folder, &format!("{name}.tar.gz"), Some(&name))
}

/// Packs the extension for Gemini CLI.
pub fn pack_gemini_extension(release: &PackagedRelease, sources: &Path) -> Result<PathBuf, String> {
    let folder = release.room.join("gemini");
    staging::copy_folder(&sources.join("plugins/gemini"), &folder)?;
    tar(release, &folder, &format!("punch-gemini-extension-{}.tar.gz", release.version), None)
}

/// Writes an archive whose bytes depend on the files alone.
fn tar(release: &PackagedRelease, folder: &Path, file: &str, below: Option<&str>) -> Result<PathBuf, String> {
    staging::plain_modes(folder)?;
    let path = release.out.join(file);
    let plain = release.room.join(file).with_extension("");
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"]);
    tar.arg(format!("--mtime=@{}", release.epoch)).arg("-cf").arg(&plain);
    match (below, folder.parent()) {
        (Some(name), Some(parent)) => tar.arg("-C").arg(parent).arg(name),
        _ => tar.arg("-C").arg(folder).arg("."),
    };
    process::read(&mut tar)?;
    process::read(Command::new("gzip").args(["-9", "--no-name", "--force"]).arg(&plain))?;
    let packed = PathBuf::from(format!("{}.gz", plain.display()));
    fs::copy(&packed, &path).map_err(|cause| format!("cannot write {}: {cause}", path.display()))?;
    Ok(path)
}

/// Makes a script executable.
pub fn executable(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(|cause| format!("{}: {cause}", path.display()))
}
