//! The programs that are compared, built as people get them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::process;

/// Where they are.
pub struct Programs {
    /// Ours.
    pub punch: PathBuf,
    /// The least that such a command can cost.
    pub bare: PathBuf,
}

impl Programs {
    /// Builds them with the release profile and installs them in a folder. A linker writes its file in small pieces,
    /// and the system keeps it so in memory; started from there, a program pays for every piece. People start copies.
    pub fn build(room: &Path) -> Result<Self, String> {
        let install = |built: PathBuf, name: &str| -> Result<PathBuf, String> {
            let to = room.join(name);
            fs::copy(&built, &to).map_err(|cause| format!("cannot copy {}: {cause}", built.display()))?;
            Ok(to)
        };
        Ok(Self {
            punch: install(build("punch-cli", &["--bin", "punch"])?, "punch")?,
            bare: install(build("xtask", &["--example", "bare"])?, "bare")?,
        })
    }
}

fn build(package: &str, target: &[&str]) -> Result<PathBuf, String> {
    let mut cargo = process::cargo();
    cargo.args(["build", "--release", "--message-format=json-render-diagnostics", "-p", package]).args(target);
    let messages = process::read(&mut cargo)?;
    let executable = |line: &str| Some(serde_json::from_str::<Value>(line).ok()?["executable"].as_str()?.to_owned());
    let built = messages.lines().filter_map(executable).next_back();
    built.map(PathBuf::from).ok_or_else(|| format!("cargo built no program of {package}"))
}
