//! Converts between the plan and the list of phases.

use super::list::{PhaseTask, TaskPhase};
use crate::dialect::list::{ListItem, NO_PHASE, SessionList};
use crate::{PhaseUid, Plan, Status, Todo};

/// Returns the plan as this dialect shows it. Todos without a phase come first, under `Todos`.
pub fn project(plan: &Plan) -> Vec<TaskPhase> {
    let mut phases: Vec<TaskPhase> = Vec::new();
    let live = plan.live();
    if live.iter().any(|todo| todo.phase.is_none()) {
        phases.push(TaskPhase { uid: Some(NO_PHASE), ..TaskPhase::new("Todos") });
    }
    phases.extend(plan.row.phases.iter().map(|p| TaskPhase { uid: Some(p.uid), ..TaskPhase::new(&p.name) }));
    let places: std::collections::HashMap<Option<PhaseUid>, usize> =
        phases.iter().enumerate().map(|(n, phase)| (phase.uid, n)).collect();
    for todo in live {
        if let Some(n) = places.get(&Some(todo.phase.unwrap_or(NO_PHASE))) {
            phases[*n].tasks.push(task(todo));
        }
    }
    phases
}

fn task(todo: &Todo) -> PhaseTask {
    let mut notes: Vec<String> = todo.notes.iter().map(|note| note.text.clone()).collect();
    let mut status = todo.status;
    if status == Status::Failed {
        // This dialect knows no failure: it is work again, and the reason is given.
        status = Status::Pending;
        notes.push(format!("failed: {}", todo.last_error.as_deref().unwrap_or("no reason given")));
    }
    PhaseTask { uid: Some(todo.uid), content: todo.content.clone(), status, notes }
}

/// The list for [`crate::dialect::list::diff`].
pub fn to_list(phases: &[TaskPhase]) -> SessionList {
    let item = |phase: usize, task: &PhaseTask| ListItem {
        uid: task.uid,
        content: task.content.clone(),
        status: task.status,
        phase: Some(phase),
        notes: Some(task.notes.clone()),
        ..ListItem::default()
    };
    SessionList {
        phases: phases.iter().map(|phase| (phase.uid, phase.name.clone())).collect(),
        items: phases.iter().enumerate().flat_map(|(n, phase)| phase.tasks.iter().map(move |t| item(n, t))).collect(),
    }
}
