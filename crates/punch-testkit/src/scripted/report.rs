//! What a scripted model has to say about the run.

use std::collections::BTreeMap;

use serde::Serialize;

/// How the requests compared with the script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ScriptReport {
    /// Requests for answers, asides and repeated ones included.
    pub requests: usize,
    /// Answers given on each track, also those after its last step.
    pub played: BTreeMap<String, usize>,
    /// Broken expectations, in the order in which they were found.
    pub failures: Vec<String>,
    /// What looks odd but may be meant.
    pub warnings: Vec<String>,
}

impl ScriptReport {
    /// The failures as one text; nothing to say is good.
    pub fn verdict(&self) -> Result<(), String> {
        if self.failures.is_empty() { Ok(()) } else { Err(self.failures.join("\n")) }
    }
}
