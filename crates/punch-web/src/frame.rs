//! Pieces of the stream: what happened, as bytes that every client gets, and what a client that was away has missed.

use std::collections::{BTreeSet, VecDeque};

use axum::body::Bytes;
use punch_core::Uid;
use serde_json::Value;

/// Frames that are remembered for clients that come back. More than this is read anew.
const REMEMBERED: usize = 2_000;

/// What a frame is to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// Rows changed between two revisions; equal revisions mean that time has passed.
    Change { from: u64, to: u64 },
    /// Anything that a client takes as it comes.
    Notice,
    /// What was sent before no longer counts.
    Reset,
    /// The plan cannot be followed any longer.
    End,
}

/// One event of the stream.
#[derive(Clone, Debug)]
pub(crate) struct StreamFrame {
    pub kind: FrameKind,
    /// Shared by all clients: written once, copied never.
    pub bytes: Bytes,
}

impl StreamFrame {
    /// An event with its data. Revisions are ids: a client that comes back names the last one.
    pub fn new(kind: FrameKind, event: &str, data: &Value) -> Self {
        let id = match kind {
            FrameKind::Change { from, to } if from < to => format!("id: {to}\n"),
            _ => String::new(),
        };
        // JSON of serde has no line ends.
        Self { kind, bytes: format!("{id}event: {event}\ndata: {data}\n\n").into_bytes().into() }
    }

    /// The end of a stream.
    pub fn end() -> Self {
        Self { kind: FrameKind::End, bytes: Bytes::new() }
    }
}

/// What one change touched.
#[derive(Debug)]
struct ChangeScope {
    to: u64,
    todos: BTreeSet<Uid>,
    phases: bool,
}

/// The last changes, for clients that come back.
#[derive(Debug, Default)]
pub(crate) struct RecentChanges {
    steps: VecDeque<ChangeScope>,
    /// Changes after this revision are all here.
    since: u64,
}

/// What a client has missed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MissedChanges {
    /// These todos may have another picture, and maybe the phases.
    Todos(BTreeSet<Uid>, bool),
    /// Too much, or it is not known.
    Unknown,
}

impl RecentChanges {
    /// Nothing is known before this revision.
    pub fn begin(since: u64) -> Self {
        Self { steps: VecDeque::new(), since }
    }

    pub fn add(&mut self, to: u64, todos: BTreeSet<Uid>, phases: bool) {
        self.steps.push_back(ChangeScope { to, todos, phases });
        while self.steps.len() > REMEMBERED {
            self.since = self.steps.pop_front().map_or(self.since, |step| step.to);
        }
    }

    /// What a client at revision `after` has missed. A change that time brought has no revision of its own, so those at
    /// this revision count as missed.
    pub fn after(&self, after: u64) -> MissedChanges {
        if after < self.since {
            return MissedChanges::Unknown;
        }
        let (mut todos, mut phases) = (BTreeSet::new(), false);
        for step in self.steps.iter().filter(|step| step.to >= after) {
            todos.extend(&step.todos);
            phases |= step.phases;
        }
        MissedChanges::Todos(todos, phases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_missed_is_the_sum_of_all_later_changes() {
        let mut recent = RecentChanges::begin(10);
        for n in 11..=20 {
            recent.add(n, [Uid(n)].into(), n == 15);
        }
        assert_eq!(recent.after(9), MissedChanges::Unknown);
        assert_eq!(recent.after(19), MissedChanges::Todos([Uid(19), Uid(20)].into(), false));
        assert_eq!(recent.after(14), MissedChanges::Todos((14..=20).map(Uid).collect(), true));
        for n in 21..=3_000 {
            recent.add(n, BTreeSet::new(), false);
        }
        assert_eq!(recent.after(500), MissedChanges::Unknown, "forgotten");
        assert_eq!(recent.after(3_000), MissedChanges::Todos(BTreeSet::new(), false));
    }

    #[test]
    fn only_changes_with_a_revision_have_an_id() {
        let text = |kind| {
            String::from_utf8(StreamFrame::new(kind, "change", &serde_json::json!({"a": "x\ny"})).bytes.to_vec())
                .unwrap()
        };
        assert_eq!(text(FrameKind::Change { from: 1, to: 2 }), "id: 2\nevent: change\ndata: {\"a\":\"x\\ny\"}\n\n");
        assert!(text(FrameKind::Change { from: 2, to: 2 }).starts_with("event: change"));
    }
}
