//! Keeping agents going: gates, texts, reminders, blocks.

mod blocks;
mod gates;
mod loops;
mod museum;
mod texts;

use punch_core::drive::{
    Counters, Decision, DecisionInput, DecisionScene, Finish, HostEvent, KeepGoing, NamedTodo, PlanFacts, decide,
};

/// An input for which every gate is open.
pub fn open() -> DecisionInput {
    DecisionInput {
        facts: PlanFacts {
            revision: 7,
            open: 3,
            total: 5,
            next: Some(NamedTodo {
                id: "T-3".into(),
                content: "Write the parser".into(),
                running: true,
                again: false,
                ..NamedTodo::default()
            }),
            ..PlanFacts::default()
        },
        counters: Counters { since: Some(0), ..Counters::default() },
        event: stopping(Finish::EndTurn),
        policy: KeepGoing::default(),
        scene: DecisionScene { named: true, bound: true, ..DecisionScene::default() },
        now: 1_000,
    }
}

pub fn stopping(finish: Finish) -> HostEvent {
    HostEvent::Stopping { finish, background: 0, kept_going: false }
}

pub fn code(input: &DecisionInput) -> String {
    match decide(input) {
        Decision::Continue { .. } => "continue".to_owned(),
        Decision::Allow { reason } => reason.code().to_owned(),
    }
}
