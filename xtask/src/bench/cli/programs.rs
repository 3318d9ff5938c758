//! The programs that are compared, built as people get them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{install, process};

/// Where they are.
pub struct BenchPrograms {
    /// Ours.
    pub punch: PathBuf,
    /// The least that such a command can cost, as cargo builds it.
    pub bare: PathBuf,
    /// The least that such a command can cost, linked as `punch` is.
    pub bare_alike: PathBuf,
}

impl BenchPrograms {
    /// Builds them with the release profile and installs them in a folder. A linker writes its file in small pieces,
    /// and the system keeps it so in memory; started from there, a program pays for every piece. People start copies.
    pub fn build(room: &Path) -> Result<Self, String> {
        Ok(Self {
            punch: copied(&install::build(&install::PUNCH)?.path, room, "punch")?,
            bare: copied(&example()?, room, "bare")?,
            bare_alike: copied(&install::build(&BARE)?.path, room, "bare-alike")?,
        })
    }
}

/// Copies a program into a folder, as users do when they install it.
pub fn copied(built: &Path, room: &Path, name: &str) -> Result<PathBuf, String> {
    let to = room.join(name);
    fs::copy(built, &to).map_err(|cause| format!("cannot copy {}: {cause}", built.display()))?;
    Ok(to)
}

const BARE: [&str; 4] = ["-p", "xtask", "--example", "bare"];

fn example() -> Result<PathBuf, String> {
    let mut cargo = process::cargo();
    cargo.args(["build", "--release", "--message-format=json-render-diagnostics"]).args(BARE);
    install::executable(&process::read(&mut cargo)?).ok_or_else(|| "cargo built no program to compare with".into())
}
