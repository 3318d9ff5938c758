//! What the agent was asked to do: the id of the todo, its text, and whether an attempt failed before.

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader};

/// What a prompt says, as far as a script cares.
#[derive(Clone, Debug, Default)]
pub struct AgentPrompt {
    /// The id of the todo.
    pub id: String,
    /// What the todo says.
    pub content: String,
    /// An earlier attempt failed, and the prompt says so.
    pub failed: bool,
}

impl AgentPrompt {
    /// Reads standard input to its end.
    pub fn read() -> io::Result<Self> {
        let mut prompt = Self::default();
        let mut lines = BufReader::new(io::stdin()).lines();
        prompt.id = env::var("PUNCH_TODO").unwrap_or_default();
        while let Some(line) = lines.next().transpose()? {
            if line.starts_with("<todo id=") {
                prompt.content = lines.next().transpose()?.unwrap_or_default().trim().to_owned();
            }
            prompt.failed |= line == "<failure>";
        }
        Ok(prompt)
    }

    /// The id from the session file, for one that does not read its prompt.
    pub fn of_session() -> Self {
        let file = env::var_os("PUNCH_SESSION_FILE").and_then(|path| fs::read_to_string(path).ok());
        let file: serde_json::Value = file.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let id = file["todos"][0].as_str().unwrap_or_default().to_owned();
        Self { id, ..Self::default() }
    }
}
