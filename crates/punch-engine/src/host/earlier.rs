//! What came before a turn in a conversation: how Punchlist notices that the user rewound a conversation while the plan
//! continued.

use std::path::{Path, PathBuf};

use punch_core::drive::{Counters, HostEvent, ToolKind, TurnBefore};

use super::HostReport;

/// Finds the last turn before this one in a file, among those that are known: what a host says to the model itself has
/// markers too. None of them, down to the beginning: [`TurnBefore::Nothing`].
pub type Find = fn(&Path, &str, &dyn Fn(&str) -> bool) -> TurnBefore;

/// How it is found out what came before a turn in a conversation.
#[derive(Clone, Debug, Default)]
pub enum Earlier {
    /// Not at all.
    #[default]
    Unknown,
    /// The report names the turns before, the last of them last.
    Told(Vec<String>),
    /// The host writes the conversation into this file. Read once in a turn, outside of any transaction.
    Written(PathBuf, Find),
}

impl HostReport {
    /// What came before the turn, if this is the report at which that is found out.
    pub(super) fn before<'c>(&self, counters: &dyn Fn() -> &'c Counters) -> TurnBefore {
        let known = |marker: &str| counters().turns.iter().any(|turn| turn.marker.as_deref() == Some(marker));
        match (&self.earlier, self.turn.as_deref()) {
            (Earlier::Told(turns), _) => turns
                .iter()
                .rev()
                .find(|turn| known(turn))
                .map_or(TurnBefore::Nothing, |turn| TurnBefore::Turn(turn.clone())),
            (Earlier::Written(file, find), Some(turn)) if self.places() && counters().is_unplaced(turn) => {
                find(file, turn, &known)
            }
            _ => TurnBefore::Unknown,
        }
    }

    /// A report whose answer reaches the model soon enough: before the list is written, else behind the first tool.
    /// Where it is in a file, a prompt is too early: it is not written down yet.
    pub(super) fn places(&self) -> bool {
        match (&self.earlier, &self.event) {
            (Earlier::Unknown, _) => false,
            (Earlier::Told(_), HostEvent::Prompted { .. }) => true,
            (_, HostEvent::ToolStarting { tool }) => matches!(tool.kind, ToolKind::Ours | ToolKind::HostTodo),
            (_, event) => matches!(event, HostEvent::ToolEnded { .. }),
        }
    }
}
