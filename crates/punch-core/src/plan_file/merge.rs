//! Three-way merge of a plan file with its plan, based on the last common state. The file owns words and order; the
//! plan owns the status, unless the user changed it. Where both changed the same thing, the user's version wins and the
//! plan's is reported.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{FileForm, PlanFileEdit, PlanFileTodo};
use crate::Status;
use crate::text::{clip, neutral};

/// A todo on which both sides agreed, with the state of each at that time. The two may differ if the file cannot
/// express what the plan has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgreedTodo {
    /// The todo as the file has it.
    pub file: PlanFileTodo,
    /// The todo as the plan has it.
    pub plan: PlanFileTodo,
}

/// What can be changed on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeField {
    /// What is to be done.
    Content,
    /// The status.
    Status,
    /// The dependencies of the todo.
    Dependencies,
    /// The todo itself: one side removed it, the other changed it.
    Presence,
}

/// The side whose version won.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeSide {
    /// The plan file.
    File,
    /// The plan.
    Plan,
}

/// Both sides changed one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeConflict {
    /// The id of the todo.
    pub id: String,
    /// The field that both sides changed.
    pub field: MergeField,
    /// What the file says; empty if it has no such todo.
    pub file: String,
    /// What the plan says; empty if it has no such todo.
    pub plan: String,
    /// The side that won.
    pub took: MergeSide,
}

impl MergeConflict {
    /// In words, safe to print: what both sides say, and what counts.
    pub fn text(&self) -> String {
        let quoted = |words: &str| format!("\"{}\"", neutral(&clip(words, 80)));
        let (id, file, plan) = (neutral(&self.id), quoted(&self.file), quoted(&self.plan));
        let field = match self.field {
            MergeField::Content => "text",
            MergeField::Status => "status",
            MergeField::Dependencies => "dependencies",
            MergeField::Presence if self.file.is_empty() => {
                return format!("{id} was deleted from the file and changed in the plan; it stays in the plan");
            }
            MergeField::Presence => {
                return format!("{id} was changed in the file and archived in the plan; it stays in the file");
            }
        };
        let took = match self.took {
            MergeSide::File => "keeping the file's version",
            MergeSide::Plan => "keeping the plan's version",
        };
        format!("{field} of {id}: the file says {file}, the plan {plan}; {took}")
    }
}

/// What follows from the three.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanFileMerge {
    /// The todos of the file as the plan has them, in the order on which both agreed.
    pub before: Vec<PlanFileTodo>,
    /// The todos of the file as users want them. New ones have no counterpart in `before`; missing ones were deleted.
    pub after: Vec<PlanFileTodo>,
    /// The place in the file of every entry of `after`.
    pub places: Vec<usize>,
    /// The changes to write to the file.
    pub writes: Vec<PlanFileEdit>,
    /// Where both changed one thing.
    pub conflicts: Vec<MergeConflict>,
    /// In the plan and not in the file: added only on request.
    pub absent: Vec<PlanFileTodo>,
    /// In the file, but archived in the plan.
    pub gone: Vec<String>,
    /// Deleted from the file.
    pub deleted: Vec<String>,
}

impl PlanFileMerge {
    /// The plan has to change.
    pub fn asks(&self) -> bool {
        self.before != self.after
    }
}

/// Merges the todos of a file, which is written in this form, with the live todos of a plan in list order.
pub fn merge(form: FileForm, base: &[AgreedTodo], file: &[PlanFileTodo], plan: &[PlanFileTodo]) -> PlanFileMerge {
    let known: HashMap<&str, &AgreedTodo> = base.iter().map(|known| (known.file.id.as_str(), known)).collect();
    let live: HashMap<&str, &PlanFileTodo> = plan.iter().map(|item| (item.id.as_str(), item)).collect();
    let mut out = PlanFileMerge::default();
    let mut seen: HashSet<&str> = file.iter().map(|item| item.id.as_str()).collect();
    let mut before: HashMap<&str, PlanFileTodo> = HashMap::new();
    let mut unnamed = UnnamedTodos::new(form, plan, &seen);
    let mut adoptions: Vec<Option<&PlanFileTodo>> = file
        .iter()
        .map(|item| if item.id.is_empty() { unnamed.adopt(&form.content(&item.content)) } else { None })
        .collect();
    adopt_reworded(base, file, &live, &mut adoptions);
    for (at, (theirs, adopted)) in file.iter().zip(adoptions).enumerate() {
        let id = adopted.map_or(theirs.id.as_str(), |ours| ours.id.as_str());
        if let Some(ours) = adopted {
            seen.insert(&ours.id);
            out.writes.push(PlanFileEdit::Id(at, ours.id.clone()));
        }
        match (live.get(id).filter(|_| !id.is_empty()), known.get(id)) {
            (Some(ours), known) => {
                let theirs = PlanFileTodo { id: id.to_owned(), ..theirs.clone() };
                let side_by_side = SideBySide { form, known: known.copied(), theirs: &theirs, ours, live: &live };
                let (was, wanted) = side_by_side.both(at, &mut out);
                before.insert(&ours.id, was);
                out.after.push(wanted);
                out.places.push(at);
            }
            (None, Some(known)) => {
                if *theirs != known.file {
                    let plan = String::new();
                    let file = theirs.content.clone();
                    out.conflicts.push(MergeConflict {
                        id: id.to_owned(),
                        field: MergeField::Presence,
                        file,
                        plan,
                        took: MergeSide::Plan,
                    });
                }
                out.gone.push(id.to_owned());
            }
            (None, None) => {
                out.after.push(theirs.clone());
                out.places.push(at);
            }
        }
    }
    let deleted = base.iter().filter(|known| !seen.contains(known.file.id.as_str()));
    for (known, ours) in deleted.filter_map(|known| Some((known, *live.get(known.file.id.as_str())?))) {
        if *ours == known.plan {
            out.deleted.push(ours.id.clone());
            before.insert(&ours.id, ours.clone());
        } else {
            let (id, plan) = (ours.id.clone(), format!("{} ({})", ours.content, ours.status.name()));
            out.conflicts.push(MergeConflict {
                id,
                field: MergeField::Presence,
                file: String::new(),
                plan,
                took: MergeSide::Plan,
            });
        }
    }
    out.absent = plan.iter().filter(|item| !before.contains_key(item.id.as_str())).cloned().collect();
    // In the order on which both agreed; what was never agreed on keeps the order of the plan.
    let agreed = base.iter().map(|known| known.file.id.as_str());
    let order = agreed.chain(plan.iter().map(|item| item.id.as_str()));
    out.before = order.filter_map(|id| before.remove(id)).collect();
    out
}

/// One todo that both sides have.
struct SideBySide<'a> {
    form: FileForm,
    known: Option<&'a AgreedTodo>,
    theirs: &'a PlanFileTodo,
    ours: &'a PlanFileTodo,
    live: &'a HashMap<&'a str, &'a PlanFileTodo>,
}

impl SideBySide<'_> {
    /// The todo as the plan has it, and as it should be there.
    fn both(&self, at: usize, out: &mut PlanFileMerge) -> (PlanFileTodo, PlanFileTodo) {
        let mut wanted = self.ours.clone();
        self.content(at, &mut wanted, out);
        match self.form {
            FileForm::FrontMatter => self.dependencies(at, &mut wanted, out),
            FileForm::Checklist => self.nesting(&mut wanted),
        }
        self.status(at, &mut wanted, out);
        (self.ours.clone(), wanted)
    }

    /// Whether each side changed something since they last agreed.
    fn changed<T: PartialEq>(&self, of: impl Fn(&PlanFileTodo) -> T) -> (bool, bool) {
        match self.known {
            Some(known) => (of(self.theirs) != of(&known.file), of(self.ours) != of(&known.plan)),
            // They never agreed: the file is what people wrote.
            None => (of(self.theirs) != of(self.ours), false),
        }
    }

    fn content(&self, at: usize, wanted: &mut PlanFileTodo, out: &mut PlanFileMerge) {
        let (theirs, ours) = (self.theirs, self.ours);
        if self.form.content(&theirs.content) == self.form.content(&ours.content) {
            return;
        }
        match self.changed(|item| item.content.clone()) {
            (true, changed) => {
                wanted.content.clone_from(&theirs.content);
                if changed {
                    out.conflicts.push(conflict(
                        MergeField::Content,
                        ours,
                        theirs.content.clone(),
                        ours.content.clone(),
                    ));
                }
            }
            (false, true) => out.writes.push(PlanFileEdit::Content(at, ours.content.clone())),
            (false, false) => {}
        }
    }

    fn dependencies(&self, at: usize, wanted: &mut PlanFileTodo, out: &mut PlanFileMerge) {
        let (theirs, ours) = (self.theirs, self.ours);
        if theirs.dependencies == ours.dependencies {
            return;
        }
        match self.changed(|item| item.dependencies.clone()) {
            (true, changed) => {
                wanted.dependencies.clone_from(&theirs.dependencies);
                if changed {
                    let (file, plan) = (theirs.dependencies.join(", "), ours.dependencies.join(", "));
                    out.conflicts.push(conflict(MergeField::Dependencies, ours, file, plan));
                }
            }
            (false, true) => out.writes.push(PlanFileEdit::Dependencies(at, ours.dependencies.clone())),
            (false, false) => {}
        }
    }

    /// A checklist has only the dependencies on nested items: what came to them or left them comes to the plan or leaves
    /// it, and the other dependencies of the plan stay.
    fn nesting(&self, wanted: &mut PlanFileTodo) {
        let before: &[String] = self.known.map_or(&[], |known| &known.file.dependencies);
        let now = &self.theirs.dependencies;
        wanted.dependencies.retain(|id| now.contains(id) || !before.contains(id));
        for id in now.iter().filter(|id| !before.contains(id) && self.live.contains_key(id.as_str())) {
            if !wanted.dependencies.contains(id) {
                wanted.dependencies.push(id.clone());
            }
        }
    }

    fn status(&self, at: usize, wanted: &mut PlanFileTodo, out: &mut PlanFileMerge) {
        let (theirs, ours) = (self.theirs, self.ours);
        let (theirs_new, ours_new) = match self.known {
            Some(_) => self.changed(|item| item.status),
            // They never agreed: the side that has begun the todo knows more.
            None => (theirs.status != Status::Pending, ours.status != Status::Pending),
        };
        let (file, plan) = (theirs.status.name().to_owned(), ours.status.name().to_owned());
        match (theirs_new, ours_new) {
            _ if theirs.status == self.form.status(ours.status) || theirs.status == ours.status => {}
            (true, false) => wanted.status = theirs.status,
            (true, true) if self.known.is_some() => {
                wanted.status = theirs.status;
                out.conflicts.push(conflict(MergeField::Status, ours, file, plan));
            }
            (true, true) => {
                out.conflicts
                    .push(MergeConflict { took: MergeSide::Plan, ..conflict(MergeField::Status, ours, file, plan) });
                out.writes.push(PlanFileEdit::Status(at, ours.status));
            }
            (false, true) => out.writes.push(PlanFileEdit::Status(at, ours.status)),
            (false, false) => {}
        }
    }
}

fn conflict(field: MergeField, ours: &PlanFileTodo, file: String, plan: String) -> MergeConflict {
    MergeConflict { id: ours.id.clone(), field, file, plan, took: MergeSide::File }
}

/// Todos of the plan that the file does not name, by what they say: the user's todo without an id may be one of them,
/// brought in before and not yet given its id.
struct UnnamedTodos<'a> {
    by_content: HashMap<String, Vec<&'a PlanFileTodo>>,
}

impl<'a> UnnamedTodos<'a> {
    fn new(form: FileForm, plan: &'a [PlanFileTodo], named: &HashSet<&str>) -> Self {
        let mut by_content: HashMap<String, Vec<&PlanFileTodo>> = HashMap::new();
        for item in plan.iter().rev().filter(|item| !named.contains(item.id.as_str())) {
            by_content.entry(form.content(&item.content)).or_default().push(item);
        }
        Self { by_content }
    }

    fn adopt(&mut self, content: &str) -> Option<&'a PlanFileTodo> {
        self.by_content.get_mut(content)?.pop()
    }
}

/// Recognizes, by their place, lines that were reworded in the file while the plan reworded them too: lines without an
/// id between the same neighbors as todos whose lines are gone. If they were taken for new todos, these todos would be
/// duplicated.
fn adopt_reworded<'a>(
    base: &[AgreedTodo],
    file: &[PlanFileTodo],
    live: &HashMap<&str, &'a PlanFileTodo>,
    adoptions: &mut [Option<&'a PlanFileTodo>],
) {
    let ids: Vec<&str> =
        file.iter().zip(&*adoptions).map(|(item, ours)| ours.map_or(item.id.as_str(), |o| &o.id)).collect();
    let present: HashSet<&str> = ids.iter().copied().collect();
    let lines = runs(ids.iter().map(|id| Some(*id).filter(|id| !id.is_empty())));
    let agreed: Vec<&str> = base.iter().map(|known| known.file.id.as_str()).collect();
    let gone = runs(agreed.iter().map(|id| Some(*id).filter(|id| present.contains(id))));
    for (between, lines) in lines {
        let Some(gone) = gone.get(&between).filter(|gone| gone.len() == lines.len()) else { continue };
        for (line, known) in lines.zip(gone.clone().map(|at| &base[at])) {
            let ours = live.get(known.file.id.as_str()).copied();
            adoptions[line] = ours.filter(|ours| ours.content != known.plan.content);
        }
    }
}

/// Runs of lines without a name, as places, by the names right before and right after them.
fn runs<'a>(names: impl Iterator<Item = Option<&'a str>>) -> HashMap<(Option<&'a str>, Option<&'a str>), Range<usize>> {
    let (mut out, mut before, mut start, mut end) = (HashMap::new(), None, 0, 0);
    for (at, name) in names.enumerate() {
        if name.is_some() {
            if start < at {
                out.insert((before, name), start..at);
            }
            (before, start) = (name, at + 1);
        }
        end = at + 1;
    }
    if start < end {
        out.insert((before, None), start..end);
    }
    out
}

/// Returns the common state after a merge. `kept` are ids whose new status in the file was refused by the plan; those
/// stay unmerged changes.
pub fn settled(base: &[AgreedTodo], file: &[PlanFileTodo], plan: &[PlanFileTodo], kept: &[String]) -> Vec<AgreedTodo> {
    let known: HashMap<&str, &AgreedTodo> = base.iter().map(|known| (known.file.id.as_str(), known)).collect();
    let live: HashMap<&str, &PlanFileTodo> = plan.iter().map(|item| (item.id.as_str(), item)).collect();
    let mut out: Vec<AgreedTodo> = Vec::with_capacity(file.len());
    for item in file.iter().filter(|item| !item.id.is_empty()) {
        let old = known.get(item.id.as_str());
        let mut new = match (live.get(item.id.as_str()), old) {
            (Some(ours), _) => AgreedTodo { file: item.clone(), plan: (*ours).clone() },
            // Archived in the plan: remembered, so that it does not come back.
            (None, Some(old)) => AgreedTodo { file: item.clone(), plan: old.plan.clone() },
            (None, None) => continue,
        };
        if kept.contains(&item.id) {
            new.file.status = old.map_or(Status::Pending, |old| old.file.status);
        }
        out.push(new);
    }
    out
}
