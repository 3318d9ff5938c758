//! Builds the program from the sources of the last commit in a folder of their own. Nothing of the folder, the machine
//! or the time of day gets into the program.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::PackagedRelease;
use crate::cargo_tool::CargoTool;
use crate::{TaskResult, install, process};

/// Records the dependencies in the program itself, so that `cargo audit bin` can judge an installed `punch`.
const AUDITABLE: CargoTool = CargoTool { name: "cargo-auditable", version: "0.7.7" };

/// A finished build.
pub struct FinishedBuild {
    /// The program.
    pub program: PathBuf,
    /// The sources that it was built from.
    pub sources: PathBuf,
}

/// The system that the program is built for: this one.
pub fn target() -> Result<String, String> {
    install::host()
}

/// The time of the commit. Refuses a tree with changes, because nobody else could build those.
pub fn epoch() -> Result<String, String> {
    let changed = process::read(process::command("git").args(["status", "--porcelain"]))?;
    if !changed.is_empty() {
        return Err(format!("commit your changes first, because `dist` builds the last commit:\n{changed}"));
    }
    let time = process::read(process::command("git").args(["log", "-1", "--format=%ct"]))?;
    Ok(time.trim().to_owned())
}

/// Exports the commit into a folder and builds it there.
pub fn build(release: &PackagedRelease, folder: &Path) -> Result<FinishedBuild, String> {
    let (sources, target) = (folder.join("sources"), folder.join("target"));
    export(&sources)?;
    let mut cargo = process::command(AUDITABLE.find_or_build()?);
    cargo.current_dir(&sources);
    let program = ["-p", "punch-cli", "--bin", "punch", "--target", &release.target];
    cargo
        .args(["auditable", "build", "--release", "--locked", "--message-format=json-render-diagnostics"])
        .args(program);
    let flags = [install::static_flags(&release.target).unwrap_or_default().to_owned(), remapped(&sources, &target)?];
    cargo.env(install::flags_variable(&release.target), flags.join(" ").trim());
    cargo.env("CFLAGS", format!("-ffile-prefix-map={}=/punchlist", folder.display()));
    cargo.env("CARGO_TARGET_DIR", &target).env("SOURCE_DATE_EPOCH", &release.epoch);
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"] {
        cargo.env_remove(variable);
    }
    let program = install::executable(&process::read(&mut cargo)?).ok_or("cargo built no program")?;
    Ok(FinishedBuild { program, sources })
}

/// Takes a program that was built before, with the sources of the last commit beside it.
pub fn taken(program: PathBuf, folder: &Path) -> Result<FinishedBuild, String> {
    let sources = folder.join("sources");
    export(&sources)?;
    Ok(FinishedBuild { program, sources })
}

/// Unpacks the sources of the last commit, unless they are there from an earlier run. New files get the time of today: with
/// the time of their commit, cargo could take them for older than what it built before.
fn export(folder: &Path) -> TaskResult {
    let commit = process::read(process::command("git").args(["rev-parse", "HEAD"]))?;
    let mark = folder.with_extension("commit");
    if fs::read_to_string(&mark).is_ok_and(|found| found == commit) {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|cause| format!("cannot empty {}: {cause}", folder.display()))?;
    }
    super::make_folder(folder)?;
    let archive = folder.with_extension("tar");
    process::run(process::command("git").args(["archive", "--format=tar", "HEAD", "-o"]).arg(&archive))?;
    process::run(Command::new("tar").arg("-xmf").arg(&archive).arg("-C").arg(folder))?;
    super::write(&mark, &commit)
}

/// Tells the compiler to write fixed names for the folders of this build. The last flag that fits wins.
fn remapped(sources: &Path, target: &Path) -> Result<String, String> {
    let home = env::var_os("CARGO_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo"))).ok_or("no home folder")?;
    let pairs = [(home.as_path(), "/cargo"), (sources, "/punchlist"), (target, "/target")];
    let flags = pairs.map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display()));
    Ok(flags.join(" "))
}
