//! `punch install` around a run of an agent: afterwards every file must be as it was, but for what the agent itself
//! wrote meanwhile.

use std::fs;
use std::path::PathBuf;

use super::hosts::TrialAgent;
use super::scenario::InstallLevel;
use super::trial_folders::TrialFolders;

/// The files of one agent before and behind the installation.
pub struct InstalledFiles {
    host: TrialAgent,
    level: InstallLevel,
    files: Vec<FileVersions>,
}

/// One file, twice; `None` where it was not there.
struct FileVersions {
    path: PathBuf,
    before: Option<Vec<u8>>,
    installed: Option<Vec<u8>>,
}

impl InstalledFiles {
    /// Installs.
    pub fn install(place: &TrialFolders, host: TrialAgent, level: InstallLevel) -> Result<Self, String> {
        let words = [&["install", host.name(), "--guide"], level.flags()].concat();
        let shown = place.ask(&[&words[..], &["--dry-run"]].concat())?;
        let files = shown["files"].as_array().map_or(&[][..], Vec::as_slice).iter();
        let paths: Vec<PathBuf> = files.filter_map(|file| file["path"].as_str()).map(PathBuf::from).collect();
        let before: Vec<_> = paths.iter().map(|path| fs::read(path).ok()).collect();
        let status = || place.git(&["status", "--porcelain", "--untracked-files=all"]);
        let clean = status()?;
        place.punch(&[&words[..], &["--yes"]].concat())?;
        let now = status()?;
        if level == InstallLevel::Personal && now != clean {
            return Err(format!("git sees a personal install: {now}"));
        }
        let files = paths.into_iter().zip(before).map(|(path, before)| {
            let installed = fs::read(&path).ok();
            FileVersions { path, before, installed }
        });
        Ok(Self { host, level, files: files.collect() })
    }

    /// Uninstalls: what is not as it should be then.
    pub fn uninstall(self, place: &TrialFolders) -> Result<Vec<String>, String> {
        let used: Vec<_> = self.files.iter().map(|file| fs::read(&file.path).ok()).collect();
        place.punch(&["uninstall", self.host.name(), self.level.flag(), "--yes"])?;
        let mut out = Vec::new();
        for (FileVersions { path, before, installed }, used) in self.files.iter().zip(used) {
            let left = fs::read(path).ok();
            let text = String::from_utf8_lossy(left.as_deref().unwrap_or_default()).into_owned();
            let ours = ["hook --agent", "mcp__punch", "punch: begin", "\"punch\"", "servers.punch"];
            if used == *installed && left != *before {
                out.push(format!("{} is not as it was before the installation", path.display()));
            } else if ours.iter().any(|ours| text.contains(ours)) {
                out.push(format!("{} still has something of ours: {text}", path.display()));
            }
        }
        Ok(out)
    }
}
