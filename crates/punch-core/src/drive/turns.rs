//! Where the user's turns began, and which of them a rewound conversation no longer knows.

use serde::{Deserialize, Serialize};

use super::Counters;

/// Turns whose beginnings are remembered.
const TURNS: usize = 20;

/// The beginning of a turn of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserTurn {
    /// The host's marker for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<String>,
    /// The plan's revision then (rule 41).
    pub revision: u64,
    /// When the turn began.
    pub at: i64,
    /// It was looked at what came before it in the conversation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub placed: bool,
}

/// What came before a turn in the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnBefore {
    /// Unknown.
    Unknown,
    /// Nothing: the conversation begins with it.
    Nothing,
    /// The turn with this marker.
    Turn(String),
}

impl Counters {
    /// Notes where a turn began.
    pub fn begin_turn(&mut self, marker: Option<&str>, revision: u64, now: i64) {
        if self.turns.len() >= TURNS {
            self.turns.remove(0);
        }
        self.seen = revision;
        self.turns.push(UserTurn { marker: marker.map(str::to_owned), revision, at: now, placed: false });
    }

    /// Notes the turn in which the first report of a session came, which began before it could be noted.
    pub fn begin_first_turn(&mut self, marker: Option<&str>, revision: u64, now: i64) {
        if marker.is_some() && self.turns.is_empty() {
            self.begin_turn(marker, revision, now);
        }
    }

    /// The turn that the conversation is in is the last one, and earlier turns have not been read.
    pub fn is_unplaced(&self, marker: &str) -> bool {
        let last = self.turns.last().filter(|_| self.turns.len() > 1);
        last.is_some_and(|turn| !turn.placed && turn.marker.as_deref() == Some(marker))
    }

    /// Takes what came before the last turn. If that is an earlier turn than the one before it, the conversation was
    /// wound back: those between are forgotten here too, and the revision at which the first of them began is
    /// answered, if the plan changed in them.
    pub fn place(&mut self, before: &TurnBefore) -> Option<u64> {
        let (last, earlier) = self.turns.split_last_mut()?;
        last.placed = true;
        let kept = match before {
            TurnBefore::Unknown => return None,
            TurnBefore::Nothing => 0,
            TurnBefore::Turn(marker) => earlier.iter().rposition(|turn| turn.marker.as_ref() == Some(marker))? + 1,
        };
        let (now, since) = (last.revision, earlier.get(kept)?.revision);
        self.turns.drain(kept..self.turns.len() - 1);
        (since < now).then_some(since)
    }
}
