//! The npm packages: one for each system with the program in it, and `punchlist`, which finds the right one. Nothing is
//! downloaded and no script runs when they are installed, so they work behind a firewall and with `--ignore-scripts`.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::staging::StagedFiles;
use super::{PackagedRelease, archive, copy_file, write};
use crate::process;

/// The program that npm puts on PATH.
const WRAPPER: &str = include_str!("punch.cjs");

/// Names of the package for a system, as npm has it.
pub fn platform_name(target: &str) -> Result<String, String> {
    platform(target).map(|(os, cpu)| format!("@punchlist/{os}-{cpu}"))
}

/// Packs the package with the program for one system.
pub fn pack_platform(release: &PackagedRelease, tree: &StagedFiles) -> Result<PathBuf, String> {
    let (os, cpu) = platform(&release.target)?;
    let own = release.room.join("npm/platform");
    copy_file(&tree.program(), &own.join("bin/punch"))?;
    let about = format!("The program `punch` for {os} on {cpu}; install `punchlist`");
    let mut package = described(release, &platform_name(&release.target)?, &about);
    package["os"] = json!([os]);
    package["cpu"] = json!([cpu]);
    package["files"] = json!(["bin"]);
    finish(release, tree, &own, &package)
}

/// Packs the package that users name. It depends on the packages of all systems; npm installs the one that fits.
pub fn pack_wrapper(release: &PackagedRelease, tree: &StagedFiles, platforms: &[String]) -> Result<PathBuf, String> {
    let wrapper = release.room.join("npm/wrapper");
    write(&wrapper.join("bin/punch.cjs"), WRAPPER)?;
    archive::executable(&wrapper.join("bin/punch.cjs"))?;
    let mut package =
        described(release, "punchlist", "The todo list your coding agents can't lose and can't walk away from");
    package["bin"] = json!({ "punch": "bin/punch.cjs" });
    package["files"] = json!(["bin"]);
    package["engines"] = json!({ "node": ">=18" });
    package["keywords"] = json!(["todo", "agents", "mcp", "claude-code", "codex", "cli"]);
    package["mcpName"] = json!(crate::registry::SERVER_NAME);
    package["optionalDependencies"] = platforms.iter().map(|name| (name.clone(), json!(release.version))).collect();
    finish(release, tree, &wrapper, &package)
}

fn finish(release: &PackagedRelease, tree: &StagedFiles, folder: &PathBuf, package: &Value) -> Result<PathBuf, String> {
    write(&folder.join("package.json"), &text(package))?;
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md"] {
        copy_file(&tree.texts().join(file), &folder.join(file))?;
    }
    npm_pack(release, folder)
}

fn described(release: &PackagedRelease, name: &str, description: &str) -> Value {
    let mut package = json!({
        "name": name, "version": release.version, "description": description,
        "license": "MIT OR Apache-2.0",
    });
    // Relative links of README.md lead to files below this address.
    if let Some(repository) = &release.repository {
        package["repository"] = json!(repository);
    }
    package
}

fn text(package: &Value) -> String {
    format!("{package:#}\n")
}

/// npm writes the same time into every archive, so its bytes depend on the files alone.
fn npm_pack(release: &PackagedRelease, folder: &PathBuf) -> Result<PathBuf, String> {
    super::staging::plain_modes(folder)?;
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "--offline", "--ignore-scripts", "--pack-destination"]).arg(&release.out).arg(folder);
    let said = process::read(&mut npm)?;
    let name = said.lines().last().ok_or("npm pack printed no name")?;
    Ok(release.out.join(name.trim()))
}

/// Node's names of a system and its processor.
fn platform(target: &str) -> Result<(&'static str, &'static str), String> {
    let os = [("linux", "linux"), ("darwin", "darwin"), ("windows", "win32")];
    let cpu = [("x86_64", "x64"), ("aarch64", "arm64")];
    let found =
        |table: &[(&str, &'static str)]| table.iter().find(|(part, _)| target.contains(part)).map(|(_, name)| *name);
    found(&os).zip(found(&cpu)).ok_or_else(|| format!("there is no npm package for {target}"))
}

#[cfg(test)]
mod tests {
    use super::platform;

    #[test]
    fn systems_have_the_names_that_node_gives_them() {
        assert_eq!(platform("x86_64-unknown-linux-gnu"), Ok(("linux", "x64")));
        assert_eq!(platform("aarch64-apple-darwin"), Ok(("darwin", "arm64")));
        assert_eq!(platform("x86_64-pc-windows-msvc"), Ok(("win32", "x64")));
        assert!(platform("riscv64gc-unknown-linux-gnu").is_err());
    }
}
