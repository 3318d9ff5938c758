//! The text of a batch's answer.

use super::list::{PhaseTask, TaskPhase, status_name};
use crate::Status;

/// The literal summary: errors, what remains, the current phase, and the whole list.
pub fn summary(phases: &[TaskPhase], errors: &[String]) -> String {
    let errors = if errors.is_empty() { None } else { Some(format!("Errors: {}", errors.join("; "))) };
    let Some(current) = current_phase(phases) else {
        return errors.unwrap_or_else(|| "Todo list cleared.".to_owned());
    };
    let mut lines: Vec<String> = errors.into_iter().collect();
    remaining(phases, &mut lines);
    let TaskPhase { name, tasks, .. } = &phases[current];
    let closed = tasks.iter().filter(|task| !task.status.is_open()).count();
    let (number, total) = (current + 1, phases.len());
    lines.push(format!("Phase {number}/{total} \"{name}\" — {closed}/{} tasks complete", tasks.len()));
    for phase in phases {
        lines.push(format!("  {}:", phase.name));
        for task in &phase.tasks {
            task_lines(task, &mut lines);
        }
    }
    lines.join("\n")
}

/// The first phase with open work, else the last one; none if there is no task at all.
fn current_phase(phases: &[TaskPhase]) -> Option<usize> {
    if phases.iter().all(|phase| phase.tasks.is_empty()) {
        return None;
    }
    let open = phases.iter().position(|phase| phase.tasks.iter().any(|task| task.status.is_open()));
    Some(open.unwrap_or(phases.len() - 1))
}

fn remaining(phases: &[TaskPhase], lines: &mut Vec<String>) {
    let mut open = Vec::new();
    for phase in phases {
        for task in phase.tasks.iter().filter(|task| task.status.is_open()) {
            open.push(format!("  - {} [{}] ({})", task.content, status_name(task.status), phase.name));
        }
    }
    if open.is_empty() {
        lines.push("Remaining items: none.".to_owned());
    } else {
        lines.push(format!("Remaining items ({}):", open.len()));
        lines.append(&mut open);
    }
}

fn task_lines(task: &PhaseTask, lines: &mut Vec<String>) {
    let symbol = match task.status {
        Status::Pending => '○',
        Status::InProgress => '→',
        Status::Completed => '✓',
        Status::Cancelled | Status::Failed => '✗',
    };
    let count = match task.notes.len() {
        0 => String::new(),
        1 => " (+1 note)".to_owned(),
        n => format!(" (+{n} notes)"),
    };
    lines.push(format!("    {symbol} {}{count}", task.content));
    if task.status != Status::InProgress {
        return;
    }
    for (i, note) in task.notes.iter().enumerate() {
        if i > 0 {
            lines.push("        ---".to_owned());
        }
        lines.extend(note.split('\n').map(|line| format!("        {line}")));
    }
}
