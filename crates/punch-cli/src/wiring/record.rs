//! What was done to one file, kept in the user's state folder so that it can be undone to the byte: which lines we
//! brought, what was there before, and whether file and folders are ours.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use punch_core::hash::fnv1a;
use punch_serve::wiring::Patch;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::files;

/// The record of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The file, with links followed.
    pub path: PathBuf,
    /// The agents it was changed for.
    pub agents: Vec<String>,
    /// It was not there before.
    pub made_file: bool,
    /// Folders that were not there, outermost first.
    pub made_folders: Vec<PathBuf>,
    /// Objects and arrays that were there before.
    pub kept: Vec<Vec<String>>,
    /// The way back.
    pub patch: Patch,
    /// The copy beside it, and how it is recognised.
    pub backup: Option<(PathBuf, Patch)>,
}

impl Record {
    /// The record of a file, if there is one that can be read.
    pub fn load(folder: &Path, path: &Path) -> Option<Self> {
        let text = fs::read_to_string(place(folder, path)).ok()?;
        Self::from_json(&serde_json::from_str(&text).ok()?).filter(|record| record.path == path)
    }

    /// Writes it.
    pub fn save(&self, folder: &Path) -> Result<(), Failure> {
        let path = place(folder, &self.path);
        let failed = |cause| files::failed(&path, cause);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        // It may hold lines of settings: nobody else's business.
        match files::create(&path, 0o600) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
        files::replace(&path, &self.to_json().to_string())
    }

    /// Forgets it.
    pub fn forget(folder: &Path, path: &Path) {
        let _ = fs::remove_file(place(folder, path));
    }

    fn to_json(&self) -> Value {
        json!({
            "path": self.path,
            "agents": self.agents,
            "madeFile": self.made_file,
            "madeFolders": self.made_folders,
            "kept": self.kept,
            "patch": self.patch.to_json(),
            "backup": self.backup.as_ref().map(|(path, mark)| json!({"path": path, "mark": mark.to_json()})),
        })
    }

    fn from_json(value: &Value) -> Option<Self> {
        let texts = |value: &Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let backup = |value: &Value| Some((PathBuf::from(value["path"].as_str()?), Patch::from_json(&value["mark"])?));
        Some(Self {
            path: PathBuf::from(value["path"].as_str()?),
            agents: texts(&value["agents"])?,
            made_file: value["madeFile"].as_bool()?,
            made_folders: texts(&value["madeFolders"])?.into_iter().map(PathBuf::from).collect(),
            kept: value["kept"].as_array()?.iter().map(texts).collect::<Option<_>>()?,
            patch: Patch::from_json(&value["patch"])?,
            backup: backup(&value["backup"]),
        })
    }
}

/// One file for each, named by a hash of its path.
fn place(folder: &Path, path: &Path) -> PathBuf {
    let hash = fnv1a(path.as_os_str().as_encoded_bytes().iter().copied());
    folder.join(format!("{hash:016x}.json"))
}
