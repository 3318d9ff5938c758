//! The programs that are compared, built as people get them.

use std::path::PathBuf;

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
    /// Builds them with the release profile.
    pub fn build() -> Result<Self, String> {
        Ok(Self { punch: build("punch-cli", &["--bin", "punch"])?, bare: build("xtask", &["--example", "bare"])? })
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
