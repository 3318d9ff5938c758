//! Stored decisions with all their input, so that each can be explained and replayed.

use punch_core::drive::{Decision, DecisionInput};
use punch_store::SessionKey;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::stop::is_nobodys;
use crate::{Engine, EngineError};

/// One decision with what it follows from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredDecision {
    pub agent: String,
    pub plan: String,
    pub revision: u64,
    #[serde(flatten)]
    pub input: DecisionInput,
    pub decision: Decision,
}

/// A stored decision or report, as it is shown to the user.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionRecord {
    /// Whose.
    pub key: SessionKey,
    /// When the decision was made.
    pub at: i64,
    /// The agent program.
    pub agent: String,
    /// What it followed from and what was decided; `None` for a mere report.
    pub decided: Option<(Box<DecisionInput>, Decision)>,
    /// The decision as it is stored: a line for `punch replay --dialect drive`.
    pub line: Value,
}

impl DecisionRecord {
    /// It concerns a session that punch does not look after.
    pub fn is_nobodys(&self) -> bool {
        matches!(&self.decided, Some((_, Decision::Allow { reason })) if is_nobodys(reason))
    }
}

impl Engine {
    /// What was decided and reported last, newest first, of one session or of all.
    pub fn decisions(&self, of: Option<&SessionKey>, limit: usize) -> Result<Vec<DecisionRecord>, EngineError> {
        let stored = self.browse(|catalogue| catalogue.decisions(of, limit))?;
        Ok(stored
            .into_iter()
            .map(|stored| {
                let record = serde_json::from_str::<StoredDecision>(&stored.body).ok();
                let line: Value = serde_json::from_str(&stored.body).unwrap_or_default();
                DecisionRecord {
                    key: stored.key,
                    at: stored.at,
                    agent: line["agent"].as_str().unwrap_or_default().to_owned(),
                    decided: record.map(|record| (Box::new(record.input), record.decision)),
                    line,
                }
            })
            .collect())
    }
}
