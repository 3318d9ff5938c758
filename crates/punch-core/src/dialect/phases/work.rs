//! The list while a batch runs, with the indexes that keep every op with a target cheap.

use std::collections::{HashMap, VecDeque};

use super::list::{PhaseTask, TaskPhase};
use crate::{PhaseUid, Status};

/// The place of a task; never used again after the task is removed.
pub(super) type TaskSlot = usize;

struct PhaseSection {
    uid: Option<PhaseUid>,
    name: String,
    slots: Vec<TaskSlot>,
}

/// The working list of one batch.
#[derive(Default)]
pub(super) struct PhaseDraft {
    sections: Vec<PhaseSection>,
    tasks: Vec<Option<PhaseTask>>,
    // Slots in list order; removed ones leave when a lookup meets them.
    by_content: HashMap<String, VecDeque<TaskSlot>>,
    // The first phase of a name: no op reaches a later one.
    by_name: HashMap<String, usize>,
    // Every slot that may be in progress.
    active: Vec<TaskSlot>,
    live: usize,
}

impl PhaseDraft {
    pub(super) fn new(phases: Vec<TaskPhase>) -> Self {
        let mut work = Self::default();
        for phase in phases {
            let index = work.add_phase(phase.name, phase.uid);
            for task in phase.tasks {
                work.add_task(index, task);
            }
        }
        work
    }

    pub(super) fn into_phases(mut self) -> Vec<TaskPhase> {
        let tasks = &mut self.tasks;
        let phase = |section: PhaseSection| TaskPhase {
            uid: section.uid,
            name: section.name,
            tasks: section.slots.into_iter().filter_map(|slot| tasks[slot].take()).collect(),
        };
        self.sections.into_iter().map(phase).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// The first phase with exactly this name.
    pub(super) fn phase(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub(super) fn add_phase(&mut self, name: String, uid: Option<PhaseUid>) -> usize {
        let index = self.sections.len();
        self.by_name.entry(name.clone()).or_insert(index);
        self.sections.push(PhaseSection { uid, name, slots: Vec::new() });
        index
    }

    pub(super) fn add_task(&mut self, phase: usize, task: PhaseTask) {
        let slot = self.tasks.len();
        if task.status == Status::InProgress {
            self.active.push(slot);
        }
        self.by_content.entry(task.content.clone()).or_default().push_back(slot);
        self.sections[phase].slots.push(slot);
        self.tasks.push(Some(task));
        self.live += 1;
    }

    /// The first task with exactly this content.
    pub(super) fn find(&mut self, content: &str) -> Option<TaskSlot> {
        let slots = self.by_content.get_mut(content)?;
        while slots.front().is_some_and(|slot| self.tasks[*slot].is_none()) {
            slots.pop_front();
        }
        slots.front().copied()
    }

    /// The live slots of a phase, or of all phases.
    pub(super) fn slots(&self, phase: Option<usize>) -> Vec<TaskSlot> {
        let sections = phase.map_or(&self.sections[..], |index| &self.sections[index..=index]);
        let slots = sections.iter().flat_map(|section| section.slots.iter().copied());
        slots.filter(|slot| self.tasks[*slot].is_some()).collect()
    }

    pub(super) fn set_status(&mut self, slot: TaskSlot, status: Status) {
        if let Some(task) = &mut self.tasks[slot] {
            task.status = status;
        }
    }

    /// Makes one task the only one in progress.
    pub(super) fn start(&mut self, slot: TaskSlot) {
        for other in std::mem::take(&mut self.active) {
            if let Some(task) = self.tasks[other].as_mut().filter(|task| task.status == Status::InProgress) {
                task.status = Status::Pending;
            }
        }
        self.set_status(slot, Status::InProgress);
        self.active.push(slot);
    }

    pub(super) fn note(&mut self, slot: TaskSlot, text: String) {
        if let Some(task) = &mut self.tasks[slot] {
            task.notes.push(text);
        }
    }

    pub(super) fn remove(&mut self, slot: TaskSlot) {
        if self.tasks[slot].take().is_some() {
            self.live -= 1;
        }
    }

    /// Empties a phase, or all phases; the phases stay.
    pub(super) fn clear(&mut self, phase: Option<usize>) {
        for slot in self.slots(phase) {
            self.remove(slot);
        }
        let range = phase.map_or(0..self.sections.len(), |index| index..index + 1);
        for section in &mut self.sections[range] {
            section.slots.clear();
        }
    }
}
