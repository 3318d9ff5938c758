//! Builds the program from the sources of the last commit in a folder of their own. Nothing of the folder, the machine
//! or the time of day gets into the program.

use std::env;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::PackagedRelease;
use crate::bench::tools;
use crate::cargo_tool::CargoTool;
use crate::{TaskResult, install, process};

/// Records the dependencies in the program itself, so that `cargo audit bin` can judge an installed `punch`.
const AUDITABLE: CargoTool = CargoTool { name: "cargo-auditable", version: "0.7.7" };

/// The tool wraps the compiler, and cargo puts the path of a wrapper into the names of everything that it compiles. So the tool
/// is started from the same place on every machine.
const WRAPPER_FOLDER: &str = "/tmp/punchlist-dist";

/// C compilers from Debian for other systems: the target, the program, its package.
const CROSS_COMPILERS: [(&str, &str, &str); 1] =
    [("aarch64-unknown-linux-gnu", "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu")];

/// A finished build.
pub struct FinishedBuild {
    /// The program.
    pub program: PathBuf,
    /// The sources that it was built from.
    pub sources: PathBuf,
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

/// Makes sure that the program can be built for a target. Returns the C compiler.
pub fn compiler(target: &str) -> Result<&'static str, String> {
    if target == install::host()? {
        return Ok("cc");
    }
    let known = CROSS_COMPILERS.iter().find(|(known, ..)| *known == target);
    let Some((_, program, package)) = known else {
        let known = CROSS_COMPILERS.map(|(target, ..)| target).join(", ");
        return Err(format!("no C compiler is known here for {target}; `dist --target` takes {known}"));
    };
    tools::install(program, package)?;
    process::run(process::command("rustup").args(["target", "add", target]))?;
    Ok(program)
}

/// Exports the commit into a folder and builds it there.
pub fn build(release: &PackagedRelease, folder: &Path) -> Result<FinishedBuild, String> {
    let (sources, target) = (folder.join("sources"), folder.join("target"));
    export(&sources)?;
    // Each build brings the tool from a folder of its own, as different clones do.
    let tool = folder.join("tools").join(AUDITABLE.name);
    super::copy_file(&AUDITABLE.file()?, &tool)?;
    let mut cargo = process::command(in_place(&tool, Path::new(WRAPPER_FOLDER), &release.room)?);
    cargo.current_dir(&sources);
    let program = ["-p", "punch-cli", "--bin", "punch", "--target", &release.target];
    cargo
        .args(["auditable", "build", "--release", "--locked", "--message-format=json-render-diagnostics"])
        .args(program);
    let mut flags: Vec<String> = Vec::new();
    let linked = install::static_flags(&release.target, release.compiler).unwrap_or_default();
    flags.extend(linked.split_whitespace().map(str::to_owned));
    flags.extend(remapped(&sources, &target)?);
    for variable in ["RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"] {
        cargo.env_remove(variable);
    }
    // With `--target`, macros and build scripts do not get these. Unlike other variables, it takes paths with blanks.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    let folder = folder.display().to_string().replace('\'', "'\\''");
    cargo.env("CC_SHELL_ESCAPED_FLAGS", "1").env("CFLAGS", format!("'-ffile-prefix-map={folder}=/punchlist'"));
    if release.compiler != "cc" {
        cargo.env(install::target_variable(&release.target, "LINKER"), release.compiler);
        cargo.env(format!("CC_{}", release.target.replace('-', "_")), release.compiler);
    }
    cargo.env("CARGO_TARGET_DIR", &target).env("SOURCE_DATE_EPOCH", &release.epoch);
    let program = install::executable(&process::read(&mut cargo)?).ok_or("cargo built no program")?;
    Ok(FinishedBuild { program, sources })
}

/// Takes a program that was built before, with the sources of the last commit beside it.
pub fn taken(program: PathBuf, folder: &Path) -> Result<FinishedBuild, String> {
    let sources = folder.join("sources");
    export(&sources)?;
    Ok(FinishedBuild { program, sources })
}

/// Copies a tool to its place on every machine. Every user can write to the folder above, so a folder that is not ours alone is
/// refused: the tool runs with our rights.
fn in_place(tool: &Path, folder: &Path, ours: &Path) -> Result<PathBuf, String> {
    let wrong = |cause: std::io::Error| format!("{}: {cause}", folder.display());
    if let Err(cause) = fs::DirBuilder::new().mode(0o700).create(folder)
        && cause.kind() != std::io::ErrorKind::AlreadyExists
    {
        return Err(wrong(cause));
    }
    let (found, own) = (fs::symlink_metadata(folder).map_err(wrong)?, fs::metadata(ours).map_err(wrong)?);
    if !found.is_dir() || found.uid() != own.uid() || found.mode() & 0o077 != 0 {
        return Err(format!("{} is not a folder of yours alone: remove it", folder.display()));
    }
    let (place, new) = (folder.join(AUDITABLE.name), folder.join(format!("new-{}", std::process::id())));
    super::copy_file(tool, &new)?;
    fs::rename(&new, &place).map_err(wrong)?;
    Ok(place)
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
fn remapped(sources: &Path, target: &Path) -> Result<[String; 3], String> {
    let home = env::var_os("CARGO_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo"))).ok_or("no home folder")?;
    let pairs = [(home.as_path(), "/cargo"), (sources, "/punchlist"), (target, "/target")];
    Ok(pairs.map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn tools_from_any_folder_run_from_one_place_which_is_ours_alone() {
        let room = tempfile::tempdir().unwrap();
        let place = room.path().join("place");
        for (folder, text) in [("a", "one"), ("a longer folder", "two")] {
            let tool = room.path().join(folder).join("tool");
            super::super::write(&tool, text).unwrap();
            let found = in_place(&tool, &place, room.path()).unwrap();
            assert_eq!(
                (found.clone(), fs::read_to_string(found).unwrap()),
                (place.join("cargo-auditable"), text.to_owned())
            );
        }
        fs::set_permissions(&place, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(
            in_place(&room.path().join("a/tool"), &place, room.path()).unwrap_err().contains("not a folder of yours")
        );
        fs::remove_dir_all(&place).unwrap();
        std::os::unix::fs::symlink(room.path(), &place).unwrap();
        assert!(in_place(&room.path().join("a/tool"), &place, room.path()).is_err());
    }

    #[test]
    fn a_target_without_a_compiler_is_refused_before_anything_is_built() {
        assert!(compiler("riscv64gc-unknown-linux-gnu").unwrap_err().contains("takes aarch64-unknown-linux-gnu"));
    }

    #[test]
    fn folders_with_blanks_stay_one_flag() {
        let flags = remapped(Path::new("/a b/sources"), Path::new("/a b/target")).unwrap();
        assert_eq!(flags[1], "--remap-path-prefix=/a b/sources=/punchlist");
    }
}
