//! Applies one batch: every op in order, errors collected, the list normalized at the end.

use super::call::{PhaseInput, PhaseOp, PhasesTarget};
use super::list::{PhaseTask, TaskPhase};
use super::normal::{FinishedTask, completions, normalise};
use super::work::{PhaseDraft, TaskSlot};
use crate::{Status, text};

/// The answer to a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhasesAnswer {
    /// The list after the batch, also where ops failed.
    pub phases: Vec<TaskPhase>,
    /// One sentence for each op that failed, in order.
    pub errors: Vec<String>,
    /// The place of each op that failed in the batch.
    pub failed: Vec<usize>,
    /// Tasks that became completed.
    pub completed: Vec<FinishedTask>,
    /// Some op failed.
    pub is_error: bool,
}

/// Runs a batch. An op that fails does not stop the ones after it.
pub fn step(phases: &[TaskPhase], ops: &[PhaseOp]) -> PhasesAnswer {
    let mut work = PhaseDraft::new(phases.to_vec());
    let results = ops.iter().enumerate().filter_map(|(at, op)| Some((at, run(&mut work, op).err()?)));
    let (failed, errors): (Vec<usize>, Vec<String>) = results.unzip();
    let mut after = work.into_phases();
    normalise(&mut after);
    let completed = completions(phases, &after);
    PhasesAnswer { phases: after, is_error: !errors.is_empty(), errors, failed, completed }
}

fn run(work: &mut PhaseDraft, op: &PhaseOp) -> Result<(), String> {
    match op {
        PhaseOp::Init { list } => {
            *work = PhaseDraft::new(list.iter().flatten().map(new_phase).collect());
            list.as_ref().map(|_| ()).ok_or_else(|| "Missing list for init operation".to_owned())
        }
        PhaseOp::Start { task } => find(work, task.as_deref()).map(|slot| work.start(slot)),
        PhaseOp::Done(target) => mark(work, target, Status::Completed),
        PhaseOp::Drop(target) => mark(work, target, Status::Cancelled),
        PhaseOp::Rm(PhasesTarget::Task(content)) => find(work, Some(content)).map(|slot| work.remove(slot)),
        PhaseOp::Rm(PhasesTarget::Phase(name)) => find_phase(work, name).map(|phase| work.clear(Some(phase))),
        PhaseOp::Rm(PhasesTarget::All) => {
            work.clear(None);
            Ok(())
        }
        PhaseOp::Append { phase, items } => append(work, phase.as_deref(), items.as_deref()),
        PhaseOp::Note { task, text } => {
            let slot = find(work, task.as_deref())?;
            let note = text::js_trim_end(text.as_deref().unwrap_or_default());
            if note.is_empty() {
                return Err("Missing text for note operation".to_owned());
            }
            work.note(slot, note.to_owned());
            Ok(())
        }
    }
}

fn new_phase(phase: &PhaseInput) -> TaskPhase {
    let tasks = phase.items.iter().map(|content| PhaseTask::new(content, Status::Pending)).collect();
    TaskPhase { uid: None, name: phase.name.clone(), tasks }
}

fn mark(work: &mut PhaseDraft, target: &PhasesTarget, status: Status) -> Result<(), String> {
    let slots = match target {
        PhasesTarget::Task(content) => vec![find(work, Some(content))?],
        PhasesTarget::Phase(name) => work.slots(Some(find_phase(work, name)?)),
        PhasesTarget::All => work.slots(None),
    };
    for slot in slots {
        work.set_status(slot, status);
    }
    Ok(())
}

/// The phase is made before the items are looked at, and the first duplicate ends the op: earlier items stay.
fn append(work: &mut PhaseDraft, phase: Option<&str>, items: Option<&[String]>) -> Result<(), String> {
    let name = phase.ok_or("Missing phase name for append operation")?;
    let items = items.ok_or("Missing items for append operation")?;
    let phase = work.phase(name).unwrap_or_else(|| work.add_phase(name.to_owned(), None));
    for content in items {
        if work.find(content).is_some() {
            return Err(format!("Task \"{content}\" already exists"));
        }
        work.add_task(phase, PhaseTask::new(content, Status::Pending));
    }
    Ok(())
}

fn find_phase(work: &PhaseDraft, name: &str) -> Result<usize, String> {
    work.phase(name).ok_or_else(|| format!("Phase \"{name}\" not found"))
}

fn find(work: &mut PhaseDraft, content: Option<&str>) -> Result<TaskSlot, String> {
    let content = content.ok_or("Missing task content")?;
    work.find(content).ok_or_else(|| {
        let hint = if looks_like_id(content) {
            ". Tasks are referenced by content, not by IDs — pass the task's full text from the previous result."
        } else if work.is_empty() {
            " (todo list is empty — was it replaced or not yet created?)"
        } else {
            ""
        };
        format!("Task \"{content}\" not found{hint}")
    })
}

/// `^task-\d+$`, ASCII digits only.
fn looks_like_id(content: &str) -> bool {
    let number = content.strip_prefix("task-").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}
