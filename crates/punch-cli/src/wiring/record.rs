//! The record of changes to one file, in the user's state folder, so that they can be undone: which lines we added,
//! what was there before, and whether file and folders are ours.

use std::fs;
use std::path::{Path, PathBuf};

use punch_core::hash::fnv1a;
use punch_serve::wiring::{FileHistory, TextPatch};
use punch_store::{create_own_folder, read_own, replace_file};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::files;

/// Larger files are not records.
const LARGEST: u64 = 32 << 20;

/// The record of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileRecord {
    /// The file, with links followed.
    pub path: PathBuf,
    /// Whom it was changed for: names of agents, with a project where one file holds the entries of several.
    pub users: Vec<String>,
    /// It was changed for this user only, not for everyone who has the project.
    pub personal: bool,
    /// Folders that were not there, outermost first.
    pub made_folders: Vec<PathBuf>,
    /// What is needed to take our entries out again.
    pub history: FileHistory,
    /// The copy beside it, and how it is recognized.
    pub backup: Option<(PathBuf, TextPatch)>,
    /// The lines in `.git/info/exclude` that are there because of it.
    pub excluded: Vec<String>,
}

impl FileRecord {
    /// The record of a file, if there is one that can be read.
    pub fn load(folder: &Path, path: &Path) -> Option<Self> {
        read(&place(folder, path)).filter(|record| record.path == path)
    }

    /// Every record in the folder.
    pub fn all(folder: &Path) -> Vec<Self> {
        let files = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        files.filter(|path| path.extension().is_some_and(|end| end == "json")).filter_map(|path| read(&path)).collect()
    }

    /// Writes it.
    pub fn save(&self, folder: &Path) -> Result<(), Failure> {
        let path = place(folder, &self.path);
        let failed = |cause| files::failed(&path, cause);
        if let Some(folder) = path.parent() {
            create_own_folder(folder).map_err(failed)?;
        }
        // Private: it may hold lines of settings.
        replace_file(&path, self.to_json().to_string().as_bytes(), 0o600).map_err(failed)
    }

    /// Forgets it.
    pub fn forget(folder: &Path, path: &Path) {
        let _ = fs::remove_file(place(folder, path));
    }

    fn to_json(&self) -> Value {
        json!({
            "path": self.path,
            "agents": self.users,
            "personal": self.personal,
            "madeFile": self.history.made_file,
            "madeFolders": self.made_folders,
            "kept": self.history.kept,
            "patch": self.history.patch.to_json(),
            "backup": self.backup.as_ref().map(|(path, mark)| json!({"path": path, "mark": mark.to_json()})),
            "excluded": self.excluded,
        })
    }

    /// Versions before 0.2 knew neither `personal` nor `excluded`: what they wrote into projects was shared.
    fn from_json(value: &Value) -> Option<Self> {
        let texts = |value: &Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let backup =
            |value: &Value| Some((PathBuf::from(value["path"].as_str()?), TextPatch::from_json(&value["mark"])?));
        Some(Self {
            path: PathBuf::from(value["path"].as_str()?),
            users: texts(&value["agents"])?,
            personal: value["personal"].as_bool().unwrap_or_default(),
            made_folders: texts(&value["madeFolders"])?.into_iter().map(PathBuf::from).collect(),
            history: FileHistory {
                made_file: value["madeFile"].as_bool()?,
                kept: value["kept"].as_array()?.iter().map(texts).collect::<Option<_>>()?,
                patch: TextPatch::from_json(&value["patch"])?,
            },
            backup: backup(&value["backup"]),
            excluded: texts(&value["excluded"]).unwrap_or_default(),
        })
    }
}

fn read(path: &Path) -> Option<FileRecord> {
    FileRecord::from_json(&serde_json::from_slice(&read_own(path, LARGEST).ok()?).ok()?)
}

/// One file for each, named by a hash of its path.
fn place(folder: &Path, path: &Path) -> PathBuf {
    let hash = fnv1a(path.as_os_str().as_encoded_bytes().iter().copied());
    folder.join(format!("{hash:016x}.json"))
}
