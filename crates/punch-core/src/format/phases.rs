//! The Markdown of oh-my-pi, as strict as that tool reads it.

use std::collections::BTreeSet;

use super::Format;
use super::build::DocumentBuilder;
use super::checklist::{line, lines};
use crate::dialect::phases::{self as dialect, PhaseTask, TaskPhase};
use crate::{Document, ParsedDocument, Record, RecordStatus, Refusal, Remark};

/// Where todos without a phase go.
const DEFAULT: &str = "Todos";

/// Reads a list.
pub(super) fn read(input: &str) -> Result<ParsedDocument, Refusal> {
    let mut build = DocumentBuilder::new(Format::Phases);
    let reading = dialect::read(input);
    reading.errors.iter().for_each(|error| build.error("", error));
    take(&mut build, reading.phases);
    build.finish()
}

/// Takes over a list of phases.
pub(super) fn take(build: &mut DocumentBuilder, phases: Vec<TaskPhase>) {
    for (at, phase) in phases.into_iter().enumerate() {
        build.document.phases.push(phase.name);
        for (n, task) in phase.tasks.into_iter().enumerate() {
            let record = Record {
                content: task.content,
                status: RecordStatus::Stored(task.status),
                phase_index: Some(at as u64),
                notes: task.notes.into_iter().map(|text| Remark { text, at: None, by: None }).collect(),
                ..Record::default()
            };
            build.add(record, &format!("phases[{at}].tasks[{n}]"));
        }
    }
}

/// Writes a list. One todo is active there, so a reader may start or pause others.
pub(super) fn write(document: &Document, lost: &mut BTreeSet<String>) -> String {
    let place = document.phase_places();
    let mut phases: Vec<TaskPhase> = document.phases.iter().map(|name| TaskPhase::new(line(name, lost))).collect();
    let loose = document.records.iter().any(|record| place(record).is_none());
    if loose {
        phases.insert(0, TaskPhase::new(DEFAULT));
    }
    let mut last = 0;
    for record in &document.records {
        let at = place(record).map_or(0, |at| at + usize::from(loose));
        if at < last {
            lost.insert("the order of todos across phases".to_owned());
        }
        last = at;
        if record.status.stored() == crate::Status::Failed {
            lost.insert("status failed (written as abandoned)".to_owned());
        }
        let notes = record.notes.iter().map(|note| lines(&note.text, lost)).collect();
        phases[at]
            .tasks
            .push(PhaseTask { notes, ..PhaseTask::new(line(&record.content, lost), record.status.stored()) });
    }
    dialect::write(&phases)
}
