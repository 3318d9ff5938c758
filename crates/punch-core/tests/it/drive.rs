//! Keeping agents going: gates, texts, reminders, blocks.

mod blocks;
mod gates;
mod loops;
mod museum;
mod texts;

use punch_core::drive::{Counters, Decision, Facts, Finish, HostEvent, Input, KeepGoing, Named, Scene, decide};

/// An input for which every gate is open.
pub fn open() -> Input {
    Input {
        facts: Facts {
            revision: 7,
            open: 3,
            total: 5,
            next: Some(Named {
                id: "T-3".into(),
                content: "Write the parser".into(),
                running: true,
                again: false,
                ..Named::default()
            }),
            ..Facts::default()
        },
        counters: Counters { since: Some(0), ..Counters::default() },
        event: stopping(Finish::EndTurn),
        policy: KeepGoing::default(),
        scene: Scene { named: true, bound: true, ..Scene::default() },
        now: 1_000,
    }
}

pub fn stopping(finish: Finish) -> HostEvent {
    HostEvent::Stopping { finish, background: 0, kept_going: false }
}

pub fn code(input: &Input) -> String {
    match decide(input) {
        Decision::Continue { .. } => "continue".to_owned(),
        Decision::Allow { reason } => reason.code().to_owned(),
    }
}
