//! Measures what a conversation used, by the growth of its context. Estimates and budgets are about this figure,
//! because a window must hold it, and every host reports it. A context that was shortened, a repeated report and a
//! resumed conversation add nothing.

use punch_core::Uid;
use serde::{Deserialize, Serialize};

/// Subagents of a session whose place is remembered.
const SUBAGENTS: usize = 32;

/// How far a conversation was read, and how large its context was there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConversationMark {
    /// Where the host writes it down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Bytes of it that were read.
    pub at: u64,
    /// Tokens in the context at the last answer of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
}

impl ConversationMark {
    /// Takes the size of the context at a further answer, and says by how much it grew. Of the first one it is unknown.
    pub fn take(&mut self, size: u64) -> u64 {
        let grown = self.context.map_or(0, |before| size.saturating_sub(before));
        self.context = Some(size);
        grown
    }
}

/// What was read of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversationReading {
    /// How far it was read.
    pub to: ConversationMark,
    /// Tokens by which the context grew on the way.
    pub grown: u64,
}

/// Reads a conversation from a mark on. `None` if there is nothing to read.
pub type ConversationReader<'a> = &'a dyn Fn(&ConversationMark) -> Option<ConversationReading>;

/// A todo that a session works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunningTodo {
    pub uid: Uid,
    pub attempt: u32,
    /// Since then its time is in no ledger.
    pub since: i64,
}

/// The measurement that is stored with a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionMeter {
    /// Its own conversation.
    pub(crate) mark: ConversationMark,
    /// What it worked on then: what was used since belongs to these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) running: Vec<RunningTodo>,
    /// When something was last entered.
    pub(crate) at: i64,
    /// The conversations of its subagents, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) subagents: Vec<(String, ConversationMark)>,
}

impl SessionMeter {
    /// What this todo uses is measured.
    pub(crate) fn measures(&self, uid: Uid) -> bool {
        self.mark.context.is_some() && self.running.iter().any(|one| one.uid == uid)
    }

    /// How far the conversation of a subagent was read.
    pub(crate) fn subagent(&self, name: &str) -> ConversationMark {
        self.subagents.iter().find(|(known, _)| known == name).map(|(_, mark)| mark.clone()).unwrap_or_default()
    }

    pub(crate) fn keep_subagent(&mut self, name: &str, mark: ConversationMark) {
        self.subagents.retain(|(known, _)| known != name);
        if self.subagents.len() >= SUBAGENTS {
            self.subagents.remove(0);
        }
        self.subagents.push((name.to_owned(), mark));
    }
}

/// The n-th of `of` even parts; the first ones have what is over.
pub(crate) const fn share(whole: u64, n: usize, of: usize) -> u64 {
    let of = of as u64;
    match of {
        0 => 0,
        _ => whole / of + ((n as u64) < whole % of) as u64,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_context_that_was_shortened_adds_nothing_and_grows_again() {
        let mut mark = ConversationMark::default();
        let grown: Vec<u64> = [9_000, 10_000, 10_000, 2_000, 2_500].map(|size| mark.take(size)).to_vec();
        assert_eq!(grown, [0, 1_000, 0, 0, 500]);
    }

    proptest! {
        #[test]
        fn shares_are_even_and_lose_nothing(whole: u64, of in 1_usize..20) {
            let shares: Vec<u64> = (0..of).map(|n| share(whole, n, of)).collect();
            prop_assert_eq!(shares.iter().sum::<u64>(), whole);
            prop_assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }

        #[test]
        fn many_subagents_take_little_room(names in proptest::collection::vec("[a-z]{1,3}", 0..100)) {
            let mut meter = SessionMeter::default();
            for name in &names {
                meter.keep_subagent(name, ConversationMark { at: 1, ..ConversationMark::default() });
                prop_assert_eq!(meter.subagent(name).at, 1);
            }
            prop_assert!(meter.subagents.len() <= SUBAGENTS);
        }
    }
}
