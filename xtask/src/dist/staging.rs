//! The files that every package carries, laid out once as below `/usr`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::build::FinishedBuild;
use super::{PackagedRelease, copy_file, make_folder, write};
use crate::process;

/// Shells with the place of their completions below `share`.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/punch"),
    ("zsh", "zsh/vendor-completions/_punch"),
    ("fish", "fish/vendor_completions.d/punch.fish"),
];

/// Texts of the repository that belong to every copy of the program.
const TEXTS: [&str; 5] = ["README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Files as they are installed below a prefix.
pub struct StagedFiles {
    /// The folder that stands for the prefix.
    pub root: PathBuf,
}

impl StagedFiles {
    /// The program.
    pub fn program(&self) -> PathBuf {
        self.root.join("bin/punch")
    }

    /// The folder of the texts.
    pub fn texts(&self) -> PathBuf {
        self.root.join("share/doc/punchlist")
    }
}

/// Lays the files out. Man pages and completions come from `speaker`, which is the program itself or, if that was built for another
/// system, a build of the same commit for this one.
pub fn stage(release: &PackagedRelease, build: &FinishedBuild, speaker: &Path) -> Result<StagedFiles, String> {
    let tree = StagedFiles { root: release.room.join("tree") };
    copy_file(&build.program, &tree.program())?;
    let man = tree.root.join("share/man/man1");
    make_folder(&man)?;
    process::read(Command::new(speaker).args(["completions", "man", "--dir"]).arg(&man))?;
    for (shell, place) in SHELLS {
        let script = process::read(Command::new(speaker).args(["completions", shell]))?;
        write(&tree.root.join("share").join(place), &script)?;
    }
    for text in TEXTS {
        copy_file(&build.sources.join(text), &tree.texts().join(text))?;
    }
    Ok(tree)
}

/// Copies a folder with all that is in it; links are followed.
pub fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    make_folder(to)?;
    for entry in crate::sources::entries(from)? {
        let target = to.join(entry.file_name().unwrap_or_default());
        if entry.is_dir() { copy_folder(&entry, &target)? } else { copy_file(&entry, &target)? }
    }
    Ok(())
}

/// Gives every folder the mode 755 and every file 755 or 644, so that a package does not depend on the umask.
pub fn plain_modes(root: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    let set = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
            .map_err(|cause| format!("{}: {cause}", path.display()))
    };
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        set(&folder, 0o755)?;
        for entry in crate::sources::entries(&folder)? {
            let data = fs::metadata(&entry).map_err(|cause| format!("{}: {cause}", entry.display()))?;
            if data.is_dir() {
                open.push(entry);
            } else {
                set(&entry, if data.permissions().mode() & 0o100 == 0 { 0o644 } else { 0o755 })?;
            }
        }
    }
    Ok(())
}
