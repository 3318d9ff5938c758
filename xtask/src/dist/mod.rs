//! `cargo xtask dist`: everything that users install, made twice to show that the bytes follow from the sources alone,
//! then installed into empty folders without a network and tried. Decision 0170 has the reasons.

mod archive;
mod build;
mod debian;
mod npm;
mod sbom;
mod staging;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{TaskResult, process};

/// One release: what all packages have in common.
pub struct PackagedRelease {
    /// The version of the workspace.
    pub version: String,
    /// The system that the program runs on, as cargo names it.
    pub target: String,
    /// Seconds since 1970 of the commit; every file in every package has this time.
    pub epoch: String,
    /// A folder for the files that are packed.
    pub room: PathBuf,
    /// Where the packages go.
    pub out: PathBuf,
}

/// Makes all packages, tries them, and writes their checksums.
pub fn run(arguments: &[&str]) -> TaskResult {
    let (once, given) = match arguments {
        [] => (false, None),
        ["--once"] => (true, None),
        ["--program", path] => (true, Some(PathBuf::from(path))),
        [unknown, ..] => return Err(format!("unknown argument `{unknown}`; `dist` takes --once or --program PATH")),
    };
    let room = tempfile::tempdir().map_err(|cause| format!("cannot make a temporary folder: {cause}"))?;
    let out = process::target()?.join("dist");
    let release = PackagedRelease {
        version: version()?,
        target: build::target()?,
        epoch: build::epoch()?,
        room: room.path().to_owned(),
        out: out.clone(),
    };
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|cause| format!("cannot empty {}: {cause}", out.display()))?;
    }
    make_folder(&out)?;
    // Kept between runs: a build takes minutes, and one that was interrupted continues.
    let builds = process::target()?.join("dist-builds");
    let first = match given {
        Some(program) => build::taken(program, &builds.join("given"))?,
        None => {
            println!("==> build punch {} for {}", release.version, release.target);
            build::build(&release, &builds.join("first"))?
        }
    };
    println!("    {} bytes, sha256 {}", size(&first.program)?, sha256(&first.program)?);
    if once {
        println!("    not built a second time: that the bytes can be reproduced is not shown");
    } else {
        println!("==> build again, from a copy of the sources in another folder");
        let second = build::build(&release, &builds.join("a-second-and-longer-path"))?;
        let (one, two) = (sha256(&first.program)?, sha256(&second.program)?);
        if one != two {
            return Err(format!("two builds of one commit differ: {one} and {two}"));
        }
        println!("    same bytes: {two}");
    }
    println!("==> pack");
    let tree = staging::stage(&release, &first)?;
    let archive = archive::pack(&release, &tree)?;
    let deb = debian::pack(&release, &tree)?;
    let npm = npm::pack(&release, &tree)?;
    archive::pack_gemini_extension(&release, &first.sources)?;
    sbom::write_bill(&release, &first)?;
    let again =
        PackagedRelease { room: release.room.join("again"), out: release.room.join("again/out"), ..copy(&release) };
    make_folder(&again.out)?;
    let tree = staging::stage(&again, &first)?;
    archive::pack(&again, &tree)?;
    debian::pack(&again, &tree)?;
    npm::pack(&again, &tree)?;
    archive::pack_gemini_extension(&again, &first.sources)?;
    same_files(&release.out, &again.out)?;
    println!("    packed twice: same bytes");
    println!("==> install and run `punch demo`, without a network");
    trial::archive(&release, &archive)?;
    trial::debian(&release, &deb)?;
    trial::npm(&release, &npm)?;
    checksums(&release)
}

fn copy(release: &PackagedRelease) -> PackagedRelease {
    PackagedRelease {
        version: release.version.clone(),
        target: release.target.clone(),
        epoch: release.epoch.clone(),
        room: release.room.clone(),
        out: release.out.clone(),
    }
}

/// The version of the workspace, which all crates share.
pub fn version() -> Result<String, String> {
    let members = crate::metadata::members()?;
    let cli = members.into_iter().find(|package| package.name == "punch-cli");
    cli.map(|package| package.version).ok_or_else(|| "the workspace has no package `punch-cli`".to_owned())
}

/// Compares the packages of two folders by name and content; the bill of materials is written once.
fn same_files(one: &Path, two: &Path) -> TaskResult {
    for file in crate::sources::entries(two)? {
        let name = file.file_name().unwrap_or_default();
        let (first, second) = (sha256(&one.join(name))?, sha256(&file)?);
        if first != second {
            return Err(format!("{} differs when it is packed again", name.to_string_lossy()));
        }
    }
    Ok(())
}

fn checksums(release: &PackagedRelease) -> TaskResult {
    let mut lines = String::new();
    for file in crate::sources::entries(&release.out)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        lines.push_str(&format!("{}  {name}\n", sha256(&file)?));
        println!("    {:>10}  {name}", size(&file)?);
    }
    let path = release.out.join("SHA256SUMS");
    fs::write(&path, lines).map_err(|cause| format!("cannot write {}: {cause}", path.display()))?;
    println!("==> all packages and SHA256SUMS are in {}", release.out.display());
    Ok(())
}

fn size(file: &Path) -> Result<u64, String> {
    fs::metadata(file).map(|data| data.len()).map_err(|cause| format!("{}: {cause}", file.display()))
}

fn sha256(file: &Path) -> Result<String, String> {
    let said = process::read(Command::new("sha256sum").arg(file))?;
    // A backslash in front marks a name that had to be quoted.
    let sum = said.split_whitespace().next().map(|sum| sum.trim_start_matches('\\').to_owned());
    sum.ok_or_else(|| format!("sha256sum printed nothing for {}", file.display()))
}

fn make_folder(folder: &Path) -> TaskResult {
    fs::create_dir_all(folder).map_err(|cause| format!("cannot make {}: {cause}", folder.display()))
}

fn write(file: &Path, text: &str) -> TaskResult {
    file.parent().map_or(Ok(()), make_folder)?;
    fs::write(file, text).map_err(|cause| format!("cannot write {}: {cause}", file.display()))
}

fn copy_file(from: &Path, to: &Path) -> TaskResult {
    to.parent().map_or(Ok(()), make_folder)?;
    fs::copy(from, to).map(|_| ()).map_err(|cause| format!("cannot copy {}: {cause}", from.display()))
}
