//! The user's approvals: of commands that check todos, and of project settings that hold a command or loosen a check.
//! Approvals are files in the user's state folder, so a process that can write only the project, the store or a tool
//! call cannot give one. Each counts for one store, one repository and one text (decision 0020). The content of a
//! script that an approved command runs is not checked.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use punch_core::Verify;
use punch_store::{create_own_folder, name_of, platform, replace_file};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::output::hex;
use crate::locate;

/// Longer files are not approvals: commands are far shorter.
const LONGEST: u64 = 1 << 20;

/// An approval as its file has it. The words are compared, so the order of the fields never changes.
#[derive(Serialize)]
struct ApprovalRecord<'a> {
    store: &'a str,
    root: &'a str,
    approved: &'a Value,
}

/// The approvals for one store, in one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consents {
    state: PathBuf,
    database: PathBuf,
    worktree: PathBuf,
    server: Option<String>,
}

impl Consents {
    /// The approvals in the user's state folder for the store in the file `database` (an absolute path), for whatever
    /// runs in `worktree` or in another worktree of the same repository. Nothing is read yet: hooks come by here.
    pub fn new(state_home: &Path, database: &Path, worktree: &Path) -> Self {
        let (database, worktree) = (database.to_owned(), worktree.to_owned());
        Self { state: state_home.join("punch"), database, worktree, server: None }
    }

    /// Returns these approvals for a store on a server, which `id` identifies to this user.
    #[must_use]
    pub fn on_server(self, id: Option<String>) -> Self {
        Self { server: id, ..self }
    }

    /// Returns true if the user approved this command.
    pub fn has(&self, command: &Verify) -> bool {
        self.is_approved(&json!({"command": command}))
    }

    /// Records that the user approved the command. True if that is new.
    pub fn give(&self, command: &Verify) -> io::Result<bool> {
        self.approve(&json!({"command": command}))
    }

    /// Withdraws the approval of the command. True if there was one.
    pub fn withdraw(&self, command: &Verify) -> io::Result<bool> {
        self.revoke(&json!({"command": command}))
    }

    /// Returns true if the user approved this value of a setting, written as in a file.
    pub fn has_setting(&self, key: &str, value: &str) -> bool {
        self.is_approved(&json!({"setting": key, "value": value}))
    }

    /// Records that the user approved this value of a setting. True if that is new.
    pub fn give_setting(&self, key: &str, value: &str) -> io::Result<bool> {
        self.approve(&json!({"setting": key, "value": value}))
    }

    /// Returns true if an earlier version recorded an approval of this command. It named the path of a store, which
    /// another store can take, and no longer counts.
    pub fn is_outdated(&self, command: &Verify) -> bool {
        let store = self.database.as_os_str().as_encoded_bytes();
        let mut hash = Sha256::new();
        hash.update((store.len() as u64).to_le_bytes());
        hash.update(store);
        hash.update(json!(command).to_string());
        self.state.join("consents").join(format!("{}.json", hex(&hash.finalize()))).is_file()
    }

    fn is_approved(&self, what: &Value) -> bool {
        // The words are compared too, so that a file of that name alone does not approve anything.
        let Ok((file, words)) = self.record(what) else { return false };
        read_own(&file).is_ok_and(|found| found == words.as_bytes())
    }

    fn approve(&self, what: &Value) -> io::Result<bool> {
        if self.is_approved(what) {
            return Ok(false);
        }
        let (file, words) = self.record(what)?;
        create_own_folder(&self.folder())?;
        replace_file(&file, words.as_bytes(), 0o600).map(|()| true)
    }

    fn revoke(&self, what: &Value) -> io::Result<bool> {
        let Ok((file, _)) = self.record(what) else { return Ok(false) };
        match fs::remove_file(file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn folder(&self) -> PathBuf {
        self.state.join("approvals")
    }

    /// The file of an approval, and what is in it. An error if the store has no id that could be read.
    fn record(&self, what: &Value) -> io::Result<(PathBuf, String)> {
        let store = match &self.server {
            Some(id) => id.clone(),
            None => name_of(&self.database).map_err(|error| io::Error::other(error.to_string()))?,
        };
        let root = locate::main_root(&self.worktree);
        let record = ApprovalRecord { store: &store, root: &root.to_string_lossy(), approved: what };
        let words = format!("{}\n", serde_json::to_string(&record)?);
        let mut hash = Sha256::new();
        // Not every path is UTF-8: two that are shown alike are still two.
        hash.update(root.as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update(&words);
        Ok((self.folder().join(format!("{}.json", hex(&hash.finalize()))), words))
    }
}

/// Reads a regular file of this user; a link or a pipe of that name does not count.
fn read_own(file: &Path) -> io::Result<Vec<u8>> {
    let found = fs::symlink_metadata(file)?;
    if !platform::is_own(&found) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    punch_store::read_own(file, LONGEST)
}

#[cfg(test)]
mod tests {
    use punch_store::{OpenMode, SqliteStore};

    use super::*;

    fn shell(line: &str) -> Verify {
        Verify::Shell(line.to_owned())
    }

    struct ConsentFolder {
        folder: tempfile::TempDir,
    }

    impl ConsentFolder {
        fn new() -> Self {
            let place = Self { folder: tempfile::tempdir().unwrap() };
            place.store("p");
            place
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join(name)
        }

        /// A project with a separate store.
        fn store(&self, project: &str) {
            let dir = self.path(project).join(".punch");
            fs::create_dir_all(&dir).unwrap();
            SqliteStore::open(&dir.join("store.db"), OpenMode::Create).unwrap();
        }

        fn consents(&self, store: &str, worktree: &str) -> Consents {
            Consents::new(&self.path("state"), &self.path(store).join(".punch/store.db"), &self.path(worktree))
        }
    }

    #[test]
    fn an_approval_is_of_one_command_in_one_store_and_one_repository() {
        let place = ConsentFolder::new();
        place.store("q");
        let here = place.consents("p", "p");
        assert!(!here.has(&shell("make test")));
        assert!(here.give(&shell("make test")).unwrap());
        assert!(!here.give(&shell("make test")).unwrap(), "once is enough");
        assert!(here.has(&shell("make test")));
        for other in [shell("make test "), shell("make"), Verify::Argv(vec!["make test".into()])] {
            assert!(!here.has(&other), "{other:?}");
        }
        assert!(!place.consents("q", "q").has(&shell("make test")), "another project");
        assert!(!place.consents("p", "q").has(&shell("make test")), "this store, used in another worktree");
        assert!(!place.consents("q", "p").has(&shell("make test")), "another store, used in this worktree");
        assert!(!here.has_setting("run.agent", "make test"));
        assert!(here.withdraw(&shell("make test")).unwrap());
        assert!(!here.withdraw(&shell("make test")).unwrap());
        assert!(!here.has(&shell("make test")));
    }

    #[test]
    fn a_store_that_is_made_anew_at_the_same_path_has_no_approvals() {
        let place = ConsentFolder::new();
        place.consents("p", "p").give(&shell("x")).unwrap();
        fs::remove_dir_all(place.path("p")).unwrap();
        assert!(!place.consents("p", "p").has(&shell("x")));
        place.store("p");
        assert!(!place.consents("p", "p").has(&shell("x")));
    }

    #[test]
    fn only_a_file_with_the_right_words_is_an_approval() {
        let place = ConsentFolder::new();
        let consents = place.consents("p", "p");
        consents.give(&shell("x")).unwrap();
        let (file, _) = consents.record(&json!({"command": shell("x")})).unwrap();
        let words = fs::read(&file).unwrap();
        fs::write(&file, "").unwrap();
        assert!(!consents.has(&shell("x")));
        assert!(consents.give(&shell("x")).unwrap(), "it is given again");
        assert_eq!(fs::read(&file).unwrap(), words);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
            fs::rename(&file, place.path("elsewhere")).unwrap();
            std::os::unix::fs::symlink(place.path("elsewhere"), &file).unwrap();
            assert!(!consents.has(&shell("x")), "a link is none");
        }
    }

    #[test]
    fn a_state_folder_that_cannot_be_written_gives_no_approval() {
        let place = ConsentFolder::new();
        fs::write(place.path("state"), "").unwrap();
        let consents = place.consents("p", "p");
        assert!(consents.give(&shell("x")).is_err());
        assert!(!consents.has(&shell("x")));
    }
}
