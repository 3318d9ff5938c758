//! The server without a process around it.
#![expect(clippy::unwrap_used, reason = "a test that cannot run what it tests has failed")]

mod agents;
mod driving;
mod equals_engine;
mod hooks;
mod hooks_checks;
mod hooks_evidence;
mod hooks_run;
mod long_checks;
mod offers;
mod own_plans;
mod switching;
mod transcripts;
mod user_changes;
mod wiring;
mod wiring_history;
