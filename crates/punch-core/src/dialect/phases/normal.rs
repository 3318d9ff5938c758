//! Normalizes the list once after a batch: one active task, and which tasks were completed.

use std::collections::HashMap;

use super::list::TaskPhase;
use crate::Status;

/// A task that the batch completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedTask {
    /// The name of its phase.
    pub phase: String,
    /// The content of the task.
    pub content: String,
}

/// Keeps the first task in progress and puts the others back; without one, the first pending task becomes active.
pub fn normalise(phases: &mut [TaskPhase]) {
    let mut found = false;
    let mut first_pending = None;
    for (i, phase) in phases.iter_mut().enumerate() {
        for (j, task) in phase.tasks.iter_mut().enumerate() {
            match task.status {
                Status::InProgress if found => task.status = Status::Pending,
                Status::InProgress => found = true,
                Status::Pending if first_pending.is_none() => first_pending = Some((i, j)),
                _ => {}
            }
        }
    }
    if let Some((i, j)) = first_pending.filter(|_| !found) {
        phases[i].tasks[j].status = Status::InProgress;
    }
}

/// The tasks that are completed after the batch and were something else before it, in their new order.
pub fn completions(before: &[TaskPhase], after: &[TaskPhase]) -> Vec<FinishedTask> {
    let mut old = HashMap::new();
    for phase in before {
        for task in &phase.tasks {
            // Of several tasks with one key the last one counts: recorded answers depend on it.
            old.insert(key(&phase.name, &task.content), task.status);
        }
    }
    let mut completed = Vec::new();
    for phase in after {
        for task in phase.tasks.iter().filter(|task| task.status == Status::Completed) {
            let was = old.get(&key(&phase.name, &task.content));
            if was.is_some_and(|status| *status != Status::Completed) {
                completed.push(FinishedTask { phase: phase.name.clone(), content: task.content.clone() });
            }
        }
    }
    completed
}

/// Phase and content are joined without escaping, so names that contain NUL can collide, as they always did.
fn key(phase: &str, content: &str) -> String {
    format!("{phase}\0{content}")
}
