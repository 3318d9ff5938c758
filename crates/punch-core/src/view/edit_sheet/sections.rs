//! Puts the lines of a sheet in the order of the plan. The sheet groups todos by phase, which the plan may not do, so
//! only todos that the user moved within a phase or to another one move in the plan.

use std::collections::{HashMap, HashSet, VecDeque};

use super::section_of;
use crate::Record;

/// A todo, and the line of the sheet that it was read from.
pub(super) struct PlacedRecord {
    pub(super) record: Record,
    pub(super) line: Option<usize>,
}

/// The todos of a sheet by heading.
#[derive(Default)]
pub(super) struct SheetSections {
    sections: HashMap<String, SheetSection>,
    /// Headings in the order in which they first appear.
    order: Vec<String>,
}

#[derive(Default)]
struct SheetSection {
    /// What stands before the first todo that was in this section already.
    first: Vec<PlacedRecord>,
    /// Each todo that was in this section already, and the lines below it that were not.
    groups: VecDeque<(PlacedRecord, Vec<PlacedRecord>)>,
}

impl SheetSections {
    /// Adds the next line; `stays` says that its todo was under this heading before.
    pub(super) fn push(&mut self, heading: &str, record: PlacedRecord, stays: bool) {
        if !self.sections.contains_key(heading) {
            self.order.push(heading.to_owned());
        }
        let section = self.sections.entry(heading.to_owned()).or_default();
        match section.groups.back_mut() {
            _ if stays => section.groups.push_back((record, Vec::new())),
            Some((_, below)) => below.push(record),
            None => section.first.push(record),
        }
    }

    /// All todos of the plan as they were, with those of the sheet in the places of those that it showed.
    pub(super) fn placed(mut self, before: &[Record], shown: &dyn Fn(&Record) -> bool) -> Vec<PlacedRecord> {
        let stays: HashSet<String> = self
            .sections
            .values()
            .flat_map(|section| &section.groups)
            .filter_map(|(placed, _)| placed.record.id.clone())
            .collect();
        let mut records = Vec::with_capacity(before.len());
        for old in before {
            if !shown(old) {
                records.push(PlacedRecord { record: old.clone(), line: None });
                continue;
            }
            // A todo that left the section, or the plan, leaves no place.
            if !old.id.as_ref().is_some_and(|id| stays.contains(id)) {
                continue;
            }
            let Some(section) = self.sections.get_mut(&section_of(old)) else { continue };
            records.append(&mut section.first);
            if let Some((record, below)) = section.groups.pop_front() {
                records.push(record);
                records.extend(below);
            }
        }
        for heading in &self.order {
            records.extend(self.sections.remove(heading).into_iter().flat_map(|section| section.first));
        }
        records
    }
}
