//! The file that the runner, the server and the hooks of one agent share: the agent's owner and todos. Passed by path,
//! because agents do not pass their environment on everywhere.

use std::io;
use std::path::Path;

use punch_store::{read_own, replace_file};
use serde::{Deserialize, Serialize};

use crate::Role;

/// The largest size of a session file.
const LARGEST: u64 = 64 * 1024;

/// Identity and todos of an agent that a runner started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionFile {
    /// The session that the todos are assigned to. The conversation that presents it becomes the worker.
    pub session: String,
    /// The name of the plan.
    pub plan: String,
    /// The owner of its claims.
    pub owner: String,
    /// The role of the agent.
    pub role: Role,
    /// The program that decides whether the agent continues: always `runner`.
    pub driver: String,
    /// The ids of its todos.
    pub todos: Vec<String>,
    /// The fences of its claims, one for each todo.
    pub fences: Vec<u64>,
}

impl SessionFile {
    /// Reads a session file, refusing one that is too large or has invalid names.
    pub fn read(path: &Path) -> io::Result<Self> {
        let found: Self = serde_json::from_slice(&read_own(path, LARGEST)?)?;
        let named = [&found.session, &found.plan, &found.owner];
        if named.iter().any(|name| name.is_empty() || name.len() > 500 || name.chars().any(char::is_control)) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it contains an invalid name"));
        }
        Ok(found)
    }

    /// Writes the file atomically, readable only by the user.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        replace_file(path, serde_json::to_string(self)?.as_bytes(), 0o600)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.json");
        let file = SessionFile {
            session: "mcp-assigned-1".into(),
            plan: "main".into(),
            owner: "run:1/1.1".into(),
            role: Role::Worker,
            driver: "runner".into(),
            todos: vec!["T-1".into()],
            fences: vec![4],
        };
        file.write(&path).unwrap();
        assert_eq!(SessionFile::read(&path).unwrap(), file);
        SessionFile { owner: "a\nb".into(), ..file }.write(&path).unwrap();
        assert!(SessionFile::read(&path).is_err());
        for bad in ["", "{}", "[1]", &"x".repeat(70_000)] {
            fs::write(&path, bad).unwrap();
            assert!(SessionFile::read(&path).is_err());
        }
        assert!(SessionFile::read(&folder.path().join("none")).is_err());
    }
}
