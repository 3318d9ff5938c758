//! Pruning: older events become part of what folding starts from.

use std::io::{self, Write};

use punch_core::{Event, Plan};

/// Writes an event as one line of JSON.
pub fn export(event: &Event, to: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *to, event)?;
    to.write_all(b"\n")
}

/// Folds an event into a baseline. Derived values are left alone: the caller derives them at the end.
pub fn advance(baseline: &mut Plan, event: &Event) {
    punch_core::apply::fold(baseline, event);
}
