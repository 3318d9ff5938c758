//! The Debian package, made by `dpkg-deb` from the same files as the archive.

use std::path::PathBuf;
use std::process::Command;

use super::staging::{self, StagedFiles};
use super::{PackagedRelease, write};
use crate::process;

/// Packs the program as a Debian package without scripts: nothing runs when it is installed or removed.
pub fn pack(release: &PackagedRelease, tree: &StagedFiles) -> Result<PathBuf, String> {
    let root = release.room.join("debian");
    staging::copy_folder(&tree.root, &root.join("usr"))?;
    let texts = root.join("usr/share/doc/punchlist");
    write(&texts.join("copyright"), COPYRIGHT)?;
    compress(&texts.join("CHANGELOG.md"), "changelog.gz")?;
    for page in crate::sources::entries(&root.join("usr/share/man/man1"))? {
        let name = format!("{}.gz", page.file_name().unwrap_or_default().to_string_lossy());
        compress(&page, &name)?;
    }
    let kilobytes = process::read(Command::new("du").args(["-sk", "--apparent-size"]).arg(root.join("usr")))?;
    let kilobytes = kilobytes.split_whitespace().next().unwrap_or("0").to_owned();
    write(&root.join("DEBIAN/control"), &control(release, &kilobytes)?)?;
    staging::plain_modes(&root)?;
    let path = release.out.join(format!("punchlist_{}_{}.deb", release.version, architecture(&release.target)?));
    let mut dpkg = Command::new("dpkg-deb");
    dpkg.args(["--root-owner-group", "-Zxz", "--build"]).arg(&root).arg(&path);
    process::read(dpkg.env("SOURCE_DATE_EPOCH", &release.epoch))?;
    Ok(path)
}

fn compress(file: &std::path::Path, name: &str) -> Result<(), String> {
    process::read(Command::new("gzip").args(["-9", "--no-name", "--force"]).arg(file))?;
    let packed = format!("{}.gz", file.display());
    std::fs::rename(&packed, file.with_file_name(name)).map_err(|cause| format!("{packed}: {cause}"))
}

/// Debian's name of an architecture.
fn architecture(target: &str) -> Result<&'static str, String> {
    match target.split('-').next() {
        Some("x86_64") => Ok("amd64"),
        Some("aarch64") => Ok("arm64"),
        _ => Err(format!("there is no Debian package for {target}")),
    }
}

/// The program is linked statically, so it depends on nothing; `git` is what most of its users have anyway.
fn control(release: &PackagedRelease, kilobytes: &str) -> Result<String, String> {
    Ok(format!(
        "Package: punchlist\n\
         Version: {}\n\
         Architecture: {}\n\
         Maintainer: The Punchlist developers <punchlist@localhost>\n\
         Installed-Size: {kilobytes}\n\
         Recommends: git\n\
         Section: devel\n\
         Priority: optional\n\
         Description: durable todo list for coding agents\n \
         Punchlist keeps the plan of coding agents outside the model's context, with\n \
         dependencies, proof and undo. Agents reach it through MCP and hooks, you with\n \
         the command punch.\n",
        release.version,
        architecture(&release.target)?,
    ))
}

const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Punchlist

Files: *
Copyright: the Punchlist developers
License: MIT or Apache-2.0
 The whole texts are in LICENSE-MIT and LICENSE-APACHE beside this file.
";

#[cfg(test)]
mod tests {
    use super::architecture;

    #[test]
    fn only_known_architectures_get_a_package() {
        assert_eq!(architecture("x86_64-unknown-linux-gnu"), Ok("amd64"));
        assert_eq!(architecture("aarch64-unknown-linux-musl"), Ok("arm64"));
        assert!(architecture("riscv64gc-unknown-linux-gnu").is_err());
    }
}
