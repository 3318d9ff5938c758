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

use build::FinishedBuild;
use staging::StagedFiles;

use crate::metadata::{self, Package};
use crate::{TaskResult, install, process};

/// One release for one system: what all packages have in common.
#[derive(Clone)]
pub struct PackagedRelease {
    /// The version of the workspace.
    pub version: String,
    /// The address of the repository, once there is one.
    pub repository: Option<String>,
    /// The system that the program runs on, as cargo names it.
    pub target: String,
    /// The C compiler for it.
    pub compiler: &'static str,
    /// Seconds since 1970 of the commit; every file in every package has this time.
    pub epoch: String,
    /// A folder for the files that are packed.
    pub room: PathBuf,
    /// Where the packages go.
    pub out: PathBuf,
}

impl PackagedRelease {
    /// The release with another folder for what is packed, and another one for packages.
    fn within(&self, room: PathBuf, out: PathBuf) -> Self {
        Self { room, out, ..self.clone() }
    }
}

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct DistOptions {
    /// Build only once.
    once: bool,
    /// A program that was built before.
    program: Option<PathBuf>,
    /// Systems besides this one.
    targets: Vec<String>,
}

/// Programs that packing needs, each with a word that makes it do nothing.
const NEEDED: [(&str, &str); 8] = [
    ("git", "--version"),
    ("tar", "--version"),
    ("gzip", "--version"),
    ("sha256sum", "--version"),
    ("du", "--version"),
    ("dpkg-deb", "--version"),
    ("node", "--version"),
    ("npm", "--version"),
];

/// Makes all packages, tries them, and writes their checksums.
pub fn run(arguments: &[&str]) -> TaskResult {
    let options = parse(arguments)?;
    let missing: Vec<&str> =
        NEEDED.iter().filter(|(program, word)| !answers(program, word)).map(|(program, _)| *program).collect();
    if !missing.is_empty() {
        return Err(format!("`dist` needs {}, which cannot be started here", missing.join(", ")));
    }
    let room = tempfile::tempdir().map_err(|cause| format!("cannot make a temporary folder: {cause}"))?;
    let out = process::target()?.join("dist");
    let host = install::host()?;
    let (cli, epoch) = (cli()?, build::epoch()?);
    let targets = std::iter::once(&host).chain(options.targets.iter().filter(|target| **target != host));
    let mut releases = Vec::new();
    for target in targets {
        releases.push(PackagedRelease {
            version: cli.version.clone(),
            repository: cli.repository.clone(),
            target: target.clone(),
            compiler: build::compiler(target)?,
            epoch: epoch.clone(),
            room: room.path().join(target),
            out: out.clone(),
        });
    }
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|cause| format!("cannot empty {}: {cause}", out.display()))?;
    }
    make_folder(&out)?;
    let mut builds: Vec<FinishedBuild> = Vec::new();
    for release in &releases {
        make_folder(&release.room)?;
        builds.push(built(release, options.once, options.program.as_deref().filter(|_| release.target == host))?);
    }
    let Some(own) = builds.first() else { return Err("there is nothing to build".to_owned()) };
    println!("==> pack");
    let mut packed = Vec::new();
    for (release, build) in releases.iter().zip(&builds) {
        let again = release.within(release.room.join("again"), release.room.join("again/out"));
        make_folder(&again.out)?;
        packed.push(pack(release, build, &own.program)?);
        pack(&again, build, &own.program)?;
        same_files(&release.out, &again.out)?;
    }
    let names: Vec<String> =
        releases.iter().map(|release| npm::platform_name(&release.target)).collect::<Result<_, _>>()?;
    let wrapper = npm::pack_wrapper(&releases[0], &packed[0].tree, &names)?;
    let again = releases[0].within(room.path().join("again"), room.path().join("again/out"));
    make_folder(&again.out)?;
    npm::pack_wrapper(&again, &packed[0].tree, &names)?;
    archive::pack_gemini_extension(&releases[0], &own.sources)?;
    archive::pack_gemini_extension(&again, &own.sources)?;
    same_files(&out, &again.out)?;
    println!("    packed twice: same bytes");
    println!("==> install and run `punch demo`, without a network");
    trial::archive(&releases[0], &packed[0].archive)?;
    trial::debian(&releases[0], &packed[0].deb)?;
    trial::npm(&releases[0], &packed[0].npm, &wrapper)?;
    for (release, build) in releases.iter().zip(&builds).skip(1) {
        println!("    {}: {}", release.target, trial::emulated(release, &build.program)?);
    }
    checksums(&releases[0])
}

fn parse(arguments: &[&str]) -> Result<DistOptions, String> {
    let mut options = DistOptions::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().copied().ok_or_else(|| format!("`{word}` needs a value"));
        match *word {
            "--once" => options.once = true,
            "--program" => (options.once, options.program) = (true, Some(PathBuf::from(value()?))),
            "--target" => options.targets.push(value()?.to_owned()),
            unknown => {
                return Err(format!(
                    "unknown argument `{unknown}`; `dist` takes --once, --target TARGET and --program PATH"
                ));
            }
        }
    }
    Ok(options)
}

/// Returns true if a program can be started.
fn answers(program: &str, word: &str) -> bool {
    process::read(Command::new(program).arg(word)).is_ok()
}

/// Builds for one system, twice unless told otherwise. Kept between runs: a build takes minutes, and one that was interrupted
/// continues.
fn built(release: &PackagedRelease, once: bool, given: Option<&Path>) -> Result<FinishedBuild, String> {
    let builds = process::target()?.join("dist-builds");
    let first = match given {
        Some(program) => build::taken(program.to_owned(), &builds.join("given"))?,
        None => {
            println!("==> build punch {} for {}", release.version, release.target);
            build::build(release, &builds.join("first"))?
        }
    };
    println!("    {} bytes, sha256 {}", size(&first.program)?, sha256(&first.program)?);
    if once {
        println!("    not built a second time: that the bytes can be reproduced is not shown");
        return Ok(first);
    }
    println!("==> build again, from a copy of the sources in another folder");
    // A blank, because the folder of a clone may have one.
    let second = build::build(release, &builds.join("a second and longer path"))?;
    let (one, two) = (sha256(&first.program)?, sha256(&second.program)?);
    if one != two {
        return Err(format!("two builds of one commit differ: {one} and {two}"));
    }
    println!("    same bytes: {two}");
    Ok(first)
}

/// The packages of one system.
struct SystemPackages {
    tree: StagedFiles,
    archive: PathBuf,
    deb: PathBuf,
    npm: PathBuf,
}

fn pack(release: &PackagedRelease, build: &FinishedBuild, speaker: &Path) -> Result<SystemPackages, String> {
    let tree = staging::stage(release, build, speaker)?;
    let archive = archive::pack(release, &tree)?;
    let deb = debian::pack(release, &tree)?;
    let npm = npm::pack_platform(release, &tree)?;
    sbom::write_bill(release, build)?;
    Ok(SystemPackages { tree, archive, deb, npm })
}

/// The version of the workspace, which all crates share.
pub fn version() -> Result<String, String> {
    cli().map(|package| package.version)
}

fn cli() -> Result<Package, String> {
    let cli = metadata::members()?.into_iter().find(|package| package.name == "punch-cli");
    cli.ok_or_else(|| "the workspace has no package `punch-cli`".to_owned())
}

/// Compares the packages of the second folder with those of the same names in the first one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_and_programs_are_read_and_anything_else_is_refused() {
        let arm = "aarch64-unknown-linux-gnu";
        let wanted = DistOptions { targets: vec![arm.to_owned()], ..DistOptions::default() };
        assert_eq!(parse(&["--target", arm]), Ok(wanted));
        let wanted = DistOptions { once: true, program: Some("punch".into()), targets: Vec::new() };
        assert_eq!(parse(&["--program", "punch"]), Ok(wanted));
        assert!(parse(&["--target"]).is_err() && parse(&["--fast"]).unwrap_err().contains("--target TARGET"));
    }

    #[test]
    fn a_program_that_is_missing_is_noticed_before_anything_is_built() {
        assert!(answers("git", "--version"));
        assert!(!answers("punch-no-such-program", "--version"));
    }
}
