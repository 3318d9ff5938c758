//! Plans built by hand, for tests of what only reads them.

use punch_core::{Dep, Hold, HoldKind, Note, Phase, PhaseUid, Plan, Status, Todo, Uid};

/// A plan that grows todo by todo.
#[derive(Default)]
pub struct Sample {
    pub plan: Plan,
}

impl Sample {
    pub fn new() -> Self {
        Self { plan: Plan::new() }
    }

    /// Adds a phase.
    pub fn phase(mut self, name: &str) -> Self {
        let uid = PhaseUid(self.plan.row.phases.len() as u64 + 1);
        self.plan.row.phases.push(Phase { uid, name: name.to_owned() });
        self
    }

    /// Adds a todo in the phase of that number, 0 for none.
    pub fn todo(self, phase: u64, status: Status, content: &str) -> Self {
        self.with(phase, status, content, |_| {})
    }

    /// Adds a todo and lets the caller set further fields.
    pub fn with(mut self, phase: u64, status: Status, content: &str, set: impl FnOnce(&mut Todo)) -> Self {
        let number = self.plan.all().count() as u64 + 1;
        let mut todo = Todo::blank(Uid(number));
        todo.id = format!("T-{number}");
        todo.content = content.to_owned();
        todo.status = status;
        todo.position = number as i64;
        todo.phase = (phase > 0).then_some(PhaseUid(phase));
        set(&mut todo);
        self.plan.put(todo);
        self
    }
}

/// Makes the todo depend on todos that are not done.
pub fn waits(todo: &mut Todo, numbers: &[u64]) {
    todo.depends_on = numbers.iter().map(|n| Dep::On(Uid(*n))).collect();
    todo.derived.unmet = numbers.len() as u32;
}

/// A remark.
pub fn note(text: &str) -> Note {
    Note { text: text.to_owned(), at: 5, by: "ann".to_owned() }
}

/// A hold for a person.
pub fn hold(reason: &str) -> Hold {
    Hold { kind: HoldKind::Human, reason: reason.to_owned(), until: None, by: "ann".to_owned(), at: 5 }
}
