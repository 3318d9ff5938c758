//! Pruning: older events become part of what folding starts from.

use std::io::{self, Write};

use punch_core::{Event, Plan};

/// Writes events as lines of JSON.
pub(crate) fn export(events: &[Event], to: &mut dyn Write) -> io::Result<()> {
    for event in events {
        serde_json::to_writer(&mut *to, event)?;
        to.write_all(b"\n")?;
    }
    to.flush()
}

/// Folds events into a baseline. Derived values are left alone: whoever folds the rest derives at the end.
pub(crate) fn advance(baseline: &mut Plan, events: &[Event]) {
    for event in events {
        punch_core::apply::fold(baseline, event);
    }
}
