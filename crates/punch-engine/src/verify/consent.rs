//! The person's consent to run a command, once for each store and command. It lies in the user's state folder: whoever
//! can write only the project, the store or a tool call cannot give it. What a consented script contains is not looked
//! at: consent is to the command as it is written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use punch_core::Verify;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::output::hex;
use crate::platform;

/// The consents for one store.
#[derive(Clone, Debug)]
pub struct Consents {
    folder: PathBuf,
    store: PathBuf,
}

impl Consents {
    /// The consents for the database `store` (an absolute path) under the user's state folder.
    pub fn new(state_home: &Path, store: &Path) -> Self {
        Self { folder: state_home.join("punch").join("consents"), store: store.to_owned() }
    }

    /// Whether this command may run.
    pub fn has(&self, command: &Verify) -> bool {
        // The words are compared too, so that a file of that name alone is no consent.
        fs::read_to_string(self.file(command)).is_ok_and(|found| found == self.words(command))
    }

    /// Remembers that the person agreed. True if that is new.
    pub fn give(&self, command: &Verify) -> io::Result<bool> {
        if self.has(command) {
            return Ok(false);
        }
        platform::private_folders().recursive(true).create(&self.folder)?;
        let file = self.file(command);
        // Complete or not there: half a consent would read as none for ever.
        let part = file.with_extension(format!("{:x}.part", std::process::id()));
        let written = File::create(&part)
            .and_then(|mut out| out.write_all(self.words(command).as_bytes()).and_then(|()| out.sync_all()))
            .and_then(|()| fs::rename(&part, &file));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written.map(|()| true)
    }

    /// Takes it back. True if there was one.
    pub fn withdraw(&self, command: &Verify) -> io::Result<bool> {
        match fs::remove_file(self.file(command)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn file(&self, command: &Verify) -> PathBuf {
        let mut hash = Sha256::new();
        let store = self.store.as_os_str().as_encoded_bytes();
        hash.update((store.len() as u64).to_le_bytes());
        hash.update(store);
        hash.update(json!(command).to_string());
        self.folder.join(format!("{}.json", hex(&hash.finalize())))
    }

    /// For people who look into the folder, and against accidents.
    fn words(&self, command: &Verify) -> String {
        format!("{}\n", json!({"store": self.store.to_string_lossy(), "command": command}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Verify {
        Verify::Shell(line.to_owned())
    }

    #[test]
    fn consent_is_to_one_command_of_one_store() {
        let state = tempfile::tempdir().unwrap();
        let here = Consents::new(state.path(), Path::new("/p/.git/punch/store.db"));
        let there = Consents::new(state.path(), Path::new("/q/.git/punch/store.db"));
        assert!(!here.has(&shell("make test")));
        assert!(here.give(&shell("make test")).unwrap());
        assert!(!here.give(&shell("make test")).unwrap(), "once is enough");
        assert!(here.has(&shell("make test")));
        for other in [shell("make test "), shell("make"), Verify::Argv(vec!["make test".into()])] {
            assert!(!here.has(&other), "{other:?}");
        }
        assert!(!there.has(&shell("make test")));
        assert!(here.withdraw(&shell("make test")).unwrap());
        assert!(!here.withdraw(&shell("make test")).unwrap());
        assert!(!here.has(&shell("make test")));
    }

    #[test]
    fn an_empty_file_of_the_right_name_is_no_consent() {
        let state = tempfile::tempdir().unwrap();
        let consents = Consents::new(state.path(), Path::new("/p/store.db"));
        fs::create_dir_all(&consents.folder).unwrap();
        fs::write(consents.file(&shell("x")), "").unwrap();
        assert!(!consents.has(&shell("x")));
        assert!(consents.give(&shell("x")).unwrap());
        assert!(consents.has(&shell("x")));
    }

    #[test]
    fn a_state_folder_that_cannot_be_written_gives_no_consent() {
        let state = tempfile::tempdir().unwrap();
        let file = state.path().join("file");
        fs::write(&file, "").unwrap();
        let consents = Consents::new(&file, Path::new("/p/store.db"));
        assert!(consents.give(&shell("x")).is_err());
        assert!(!consents.has(&shell("x")));
    }
}
