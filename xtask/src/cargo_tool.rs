//! Tools that come from crates.io, each built once into `target/tools` at a version that is bumped by hand, so that a
//! new release cannot break a task overnight.

use std::path::PathBuf;

use crate::process;

/// A program that `cargo install` can build.
pub struct CargoTool {
    /// The crate and its program.
    pub name: &'static str,
    /// The version that is built where none is installed.
    pub version: &'static str,
}

impl CargoTool {
    /// Finds the program on `PATH` or in `target/tools`.
    pub fn find(&self) -> Option<PathBuf> {
        let built = self.folder().ok()?.join("bin").join(self.name);
        let works = |program: &PathBuf| process::read(process::command(program).arg("--version")).is_ok();
        // Some tools answer `--version` only as a subcommand of cargo; those are found where we built them.
        [PathBuf::from(self.name), built.clone()].into_iter().find(works).or_else(|| built.exists().then_some(built))
    }

    /// Finds the program, or builds it, which takes minutes.
    pub fn find_or_build(&self) -> Result<PathBuf, String> {
        if let Some(found) = self.find() {
            return Ok(found);
        }
        println!("    building {} {} into target/tools", self.name, self.version);
        let folder = self.folder()?;
        let install = ["install", self.name, "--locked", "--quiet", "--version", self.version, "--root"];
        process::run(process::cargo().args(install).arg(&folder))?;
        Ok(folder.join("bin").join(self.name))
    }

    /// Finds the file of the program, or builds it. A name alone would depend on `PATH`.
    pub fn file(&self) -> Result<PathBuf, String> {
        let found = self.find_or_build()?;
        if found.components().count() > 1 {
            return Ok(found);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let file = std::env::split_paths(&path).map(|folder| folder.join(&found)).find(|file| file.is_file());
        file.ok_or_else(|| format!("{} is not on PATH", self.name))
    }

    fn folder(&self) -> Result<PathBuf, String> {
        Ok(process::target()?.join("tools"))
    }
}
