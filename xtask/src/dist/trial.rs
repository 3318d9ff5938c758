//! Installs each package into an empty folder and runs `punch demo` from it, with no network to fall back on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{PackagedRelease, make_folder};
use crate::{TaskResult, process};

/// Unpacks the archive and runs its install script.
pub fn archive(release: &PackagedRelease, archive: &Path) -> TaskResult {
    let root = release.room.join("trial/archive");
    let (unpacked, prefix) = (root.join("unpacked"), root.join("prefix"));
    make_folder(&unpacked)?;
    process::read(offline("tar").arg("-xzf").arg(archive).arg("-C").arg(&unpacked))?;
    let inner = crate::sources::entries(&unpacked)?.pop().ok_or("the archive is empty")?;
    process::read(offline("sh").arg(inner.join("install.sh")).arg("--prefix").arg(&prefix))?;
    let pages = ["share/man/man1/punch.1", "share/man/man1/punch-add.1"];
    tried("archive", &root, &prefix.join("bin"), &pages, &prefix)?;
    process::read(offline("sh").arg(inner.join("uninstall.sh")).arg("--prefix").arg(&prefix))?;
    match process::read(Command::new("find").arg(&prefix).args(["-type", "f"]))?.lines().next() {
        Some(left) => Err(format!("archive: uninstall.sh left {left}")),
        None => Ok(()),
    }
}

/// Installs the Debian package with dpkg, below a root of its own.
pub fn debian(release: &PackagedRelease, package: &Path) -> TaskResult {
    let root = release.room.join("trial/debian");
    let status = root.join("var/lib/dpkg");
    for folder in ["info", "updates", "triggers"] {
        make_folder(&status.join(folder))?;
    }
    super::write(&status.join("status"), "")?;
    let mut dpkg = offline("dpkg");
    dpkg.arg(format!("--root={}", root.display())).arg(format!("--log={}", root.join("dpkg.log").display()));
    // Slim images leave out man pages and completions; and dpkg looks for programs that only root has on PATH.
    dpkg.args(["--path-include=*", "--force-not-root", "--force-script-chrootless", "--install"]);
    let path = std::env::var("PATH").unwrap_or_default();
    process::read(dpkg.arg(package).env("PATH", format!("{path}:/usr/local/sbin:/usr/sbin:/sbin")))?;
    let wanted = [
        "share/man/man1/punch.1.gz",
        "share/bash-completion/completions/punch",
        "share/zsh/vendor-completions/_punch",
        "share/fish/vendor_completions.d/punch.fish",
        "share/doc/punchlist/copyright",
    ];
    tried("Debian package", &root.join("home"), &root.join("usr/bin"), &wanted, &root.join("usr"))
}

/// Installs both npm packages from their files.
pub fn npm(release: &PackagedRelease, platform: &Path, wrapper: &Path) -> TaskResult {
    let root = release.room.join("trial/npm");
    make_folder(&root)?;
    super::write(&root.join("package.json"), "{}\n")?;
    let mut npm = offline("npm");
    npm.current_dir(&root).args(["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]);
    process::read(npm.arg(platform).arg(wrapper).env("npm_config_cache", root.join("cache")))?;
    // Node may be anywhere, as version managers have it.
    let node = process::read(Command::new("node").args(["-p", "process.execPath"]))?;
    let bin = root.join("node_modules/.bin");
    std::os::unix::fs::symlink(node.trim(), bin.join("node")).map_err(|cause| format!("node: {cause}"))?;
    tried("npm packages", &root.join("home"), &bin, &[], &root)
}

/// Runs a program for another system, where qemu is installed and the kernel starts such programs with it. Says what was done:
/// the documentation repeats it.
pub fn emulated(release: &PackagedRelease, program: &Path) -> Result<String, String> {
    let processor = release.target.split('-').next().unwrap_or_default();
    let qemu = format!("qemu-{processor}-static");
    if process::read(Command::new(&qemu).arg("--version")).is_err() {
        return Ok(format!("only built, not run: {qemu} is not installed"));
    }
    let home = release.room.join("trial/emulated");
    make_folder(&home)?;
    let run =
        |words: &[&str]| process::read(offline(&qemu).arg(program).args(words).current_dir(&home).env("HOME", &home));
    let version = run(&["--version"])?;
    // The demo starts punch again, for which the kernel has to know qemu.
    Ok(match run(&["demo", "--all"]) {
        Ok(_) => format!("{} ran `punch demo` in {qemu}", version.trim()),
        Err(cause) => format!("{} started in {qemu}; `punch demo` did not run: {cause}", version.trim()),
    })
}

/// Checks that files were installed, and runs the demo with nothing of ours on PATH but this program.
fn tried(what: &str, home: &Path, bin: &Path, files: &[&str], prefix: &Path) -> TaskResult {
    if let Some(missing) = files.iter().find(|file| !prefix.join(file).is_file()) {
        return Err(format!("{what}: {missing} was not installed"));
    }
    make_folder(home)?;
    let path = std::env::join_paths([bin.to_owned(), PathBuf::from("/usr/bin"), PathBuf::from("/bin")])
        .map_err(|cause| format!("{}: {cause}", bin.display()))?;
    let mut demo = offline("punch");
    demo.args(["demo", "--all"]).current_dir(home).env_clear().env("HOME", home).env("PATH", &path);
    let said = process::read(&mut demo).map_err(|cause| format!("{what}: {cause}"))?;
    let version = process::read(offline("punch").arg("--version").env_clear().env("HOME", home).env("PATH", &path))?;
    let chapters = said.lines().filter(|line| !line.trim().is_empty()).count();
    println!("    {what}: {}, `punch demo` printed {chapters} lines and succeeded", version.trim());
    let left: Vec<String> = fs::read_dir(home)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    if left.iter().any(|name| name.contains("demo")) {
        return Err(format!("{what}: the demo left {} in the home folder", left.join(", ")));
    }
    Ok(())
}

/// A program in a network namespace without any device; where the system forbids that, the program as it is.
fn offline(program: &str) -> Command {
    let allowed = process::read(Command::new("unshare").args(["-rn", "true"])).is_ok();
    if !allowed {
        println!("    `unshare -rn` is not allowed here: {program} runs with the network");
        return Command::new(program);
    }
    let mut command = Command::new("unshare");
    command.args(["-rn", program]);
    command
}
