//! A document that is imported into a plan which has some of its todos already: those are updated, the others added.
//!
//! A todo is the same if it has the same id and was created at the same moment, or has the same id and text, or, where the
//! document has no ids, the same text. Two machines give the same generated id to different work, and one of them then has
//! it under another id; such a todo is recognized by its moment of creation and its text, or by the moment alone where
//! only one is left on both sides. What the document does not say stays as it is, and work that is done here is not
//! undone by an older copy.

use std::collections::{HashMap, HashSet};

use punch_core::{Document, Record, RecordStatus, Status};

/// A document brought together with what a plan has.
pub(crate) struct MergedDocument {
    /// Everything: what the plan has, with what the document says about it, then what is new.
    pub(crate) after: Document,
    /// Todos of the plan that the document has too.
    pub(crate) known: usize,
}

/// Brings a document together with the plan `before`. `next` is the number of the next generated id.
pub(crate) fn merge(before: &Document, incoming: &Document, next: u64) -> MergedDocument {
    let places = matched(before, incoming);
    let names = DocumentNames::of(before, incoming, &incoming.edges, &places, next);
    let mut after = Document { phases: before.phases.clone(), records: before.records.clone(), edges: Vec::new() };
    for phase in incoming.phases.iter().chain(incoming.records.iter().filter_map(|record| record.phase.as_ref())) {
        if !after.phases.contains(phase) {
            after.phases.push(phase.clone());
        }
    }
    for (at, record) in incoming.records.iter().enumerate() {
        let mut given = names.rename(at, record);
        given.phase_index = None;
        let edges = incoming.edges.iter().filter(|(from, _)| *from == at);
        given.depends_on.extend(edges.filter_map(|(_, to)| names.of_places[*to].clone()));
        match places[at] {
            Some(place) => update(&mut after.records[place], given),
            None => after.records.push(given),
        }
    }
    MergedDocument { after, known: places.iter().flatten().count() }
}

/// A document whose todos are all new to the plan `before`: ids that the plan uses already are replaced by free ones, also
/// where the document refers to them. `next` is the number of the next generated id.
pub(crate) fn with_free_ids(before: &Document, incoming: &Document, next: u64) -> Document {
    let names = DocumentNames::of(before, incoming, &[], &vec![None; incoming.records.len()], next);
    let records = incoming.records.iter().enumerate().map(|(at, record)| names.rename(at, record)).collect();
    Document { records, ..incoming.clone() }
}

/// What the todos of a document are called in a plan.
struct DocumentNames {
    of_places: Vec<Option<String>>,
    renamed: HashMap<String, String>,
}

impl DocumentNames {
    /// `places` says which todos of the plan those of the document are; a todo that it lacks keeps its id if that is free.
    ///
    /// Todos without an id get one only where one of these edges needs it.
    fn of(
        before: &Document,
        incoming: &Document,
        edges: &[(usize, usize)],
        places: &[Option<usize>],
        mut next: u64,
    ) -> Self {
        let mut taken: HashSet<String> = before.records.iter().filter_map(|record| record.id.clone()).collect();
        let ours: HashSet<&str> = before.records.iter().filter_map(|record| record.id.as_deref()).collect();
        taken.extend(incoming.records.iter().filter_map(|record| record.id.clone()));
        let in_edges: HashSet<usize> = edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
        let mut fresh = || loop {
            let id = format!("T-{next}");
            next += 1;
            if taken.insert(id.clone()) {
                return id;
            }
        };
        let of_places: Vec<Option<String>> = incoming
            .records
            .iter()
            .enumerate()
            .map(|(at, record)| match (places[at], &record.id) {
                (Some(place), _) => before.records[place].id.clone(),
                (None, Some(id)) if !ours.contains(id.as_str()) => Some(id.clone()),
                (None, Some(_)) => Some(fresh()),
                (None, None) => in_edges.contains(&at).then(&mut fresh),
            })
            .collect();
        let pairs = incoming.records.iter().zip(&of_places);
        let renamed = pairs.filter_map(|(record, name)| Some((record.id.clone()?, name.clone()?))).collect();
        Self { of_places, renamed }
    }

    /// The record at this place of the document with the names of the plan.
    fn rename(&self, at: usize, record: &Record) -> Record {
        let rename = |id: &String| self.renamed.get(id).unwrap_or(id).clone();
        Record {
            id: self.of_places[at].clone(),
            depends_on: record.depends_on.iter().map(rename).collect(),
            blocks: record.blocks.iter().map(rename).collect(),
            ..record.clone()
        }
    }
}

/// The todo in the plan for each todo of the document.
fn matched(before: &Document, incoming: &Document) -> Vec<Option<usize>> {
    let by_id: HashMap<&str, usize> =
        before.records.iter().enumerate().filter_map(|(at, record)| Some((record.id.as_deref()?, at))).collect();
    let mut by_text: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, record) in before.records.iter().enumerate().rev() {
        by_text.entry(text(record)).or_default().push(at);
    }
    let mut used = HashSet::new();
    let mut out = vec![None; incoming.records.len()];
    // What says the same is matched before what was reworded: todos of one batch share their moment of creation.
    let says_same = |ours: &Record, theirs: &Record| text(ours) == text(theirs);
    match_by_id(before, incoming, &by_id, (&mut used, &mut out), says_same);
    match_by_creation(before, incoming, (&mut used, &mut out), |record| Some((created(record)?, text(record))));
    match_by_id(before, incoming, &by_id, (&mut used, &mut out), is_same);
    match_by_creation(before, incoming, (&mut used, &mut out), created);
    for (at, record) in incoming.records.iter().enumerate().filter(|(_, record)| record.id.is_none()) {
        let Some(places) = by_text.get_mut(&text(record)) else { continue };
        while let Some(place) = places.pop() {
            if used.insert(place) {
                out[at] = Some(place);
                break;
            }
        }
    }
    out
}

/// The moment in which a todo with a generated id was created.
fn created(record: &Record) -> Option<i64> {
    record.created_at.filter(|_| record.id.as_deref().is_some_and(is_generated))
}

/// Ids that punch made up are the same in every plan; those of other trackers are not.
fn is_generated(id: &str) -> bool {
    id.starts_with("T-")
}

/// Matches the todos that are left and have the same id, if they are the same.
fn match_by_id(
    before: &Document,
    incoming: &Document,
    by_id: &HashMap<&str, usize>,
    (used, out): (&mut HashSet<usize>, &mut [Option<usize>]),
    same: impl Fn(&Record, &Record) -> bool,
) {
    for (at, record) in incoming.records.iter().enumerate() {
        if out[at].is_some() {
            continue;
        }
        let place = record.id.as_deref().and_then(|id| by_id.get(id).copied());
        out[at] = place.filter(|place| same(&before.records[*place], record)).filter(|place| used.insert(*place));
    }
}

/// Matches the todos that are left, where exactly one on each side has the same key.
fn match_by_creation<K: std::hash::Hash + Eq>(
    before: &Document,
    incoming: &Document,
    (used, out): (&mut HashSet<usize>, &mut [Option<usize>]),
    key: impl Fn(&Record) -> Option<K>,
) {
    let mut left: HashMap<K, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for (at, record) in before.records.iter().enumerate().filter(|(at, _)| !used.contains(at)) {
        if let Some(key) = key(record) {
            left.entry(key).or_default().0.push(at);
        }
    }
    for (at, record) in incoming.records.iter().enumerate().filter(|(at, _)| out[*at].is_none()) {
        if let Some((_, theirs)) = key(record).and_then(|key| left.get_mut(&key)) {
            theirs.push(at);
        }
    }
    for (ours, theirs) in left.values() {
        if let ([place], [at]) = (ours.as_slice(), theirs.as_slice()) {
            used.insert(*place);
            out[*at] = Some(*place);
        }
    }
}

/// Whether two todos of the same id are the same todo.
fn is_same(ours: &Record, theirs: &Record) -> bool {
    match (ours.created_at, theirs.created_at) {
        (Some(ours), Some(theirs)) if ours == theirs => true,
        _ if theirs.id.as_deref().is_some_and(is_generated) => text(ours) == text(theirs),
        _ => true,
    }
}

fn text(record: &Record) -> String {
    record.content.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Takes over what the document says.
fn update(ours: &mut Record, theirs: Record) {
    if text(ours) != text(&theirs) {
        ours.content = theirs.content;
    }
    let closed = matches!(theirs.status.stored(), Status::Completed | Status::Cancelled);
    if closed && ours.status.stored() != theirs.status.stored() && ours.status.stored() != Status::Completed {
        ours.status = RecordStatus::Stored(theirs.status.stored());
    }
    ours.phase = theirs.phase.or_else(|| ours.phase.take());
    ours.priority = theirs.priority.or(ours.priority);
    ours.labels.extend(theirs.labels);
    ours.description = theirs.description.or_else(|| ours.description.take());
    ours.active_form = theirs.active_form.or_else(|| ours.active_form.take());
    ours.complexity = theirs.complexity.or(ours.complexity);
    ours.estimated_tokens = theirs.estimated_tokens.or(ours.estimated_tokens);
    ours.verification_criteria = theirs.verification_criteria.or_else(|| ours.verification_criteria.take());
    ours.verify_command = theirs.verify_command.or_else(|| ours.verify_command.take());
    for id in theirs.depends_on {
        if !ours.depends_on.contains(&id) {
            ours.depends_on.push(id);
        }
    }
    for file in theirs.files {
        if !ours.files.contains(&file) {
            ours.files.push(file);
        }
    }
    for note in theirs.notes {
        if !ours.notes.iter().any(|known| known.text == note.text) {
            ours.notes.push(note);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: Option<&str>, content: &str) -> Record {
        Record { id: id.map(str::to_owned), content: content.to_owned(), ..Record::default() }
    }

    /// Two machines have used the same generated ids for different work, and one has reworded what it got.
    #[test]
    fn work_under_another_id_is_recognized_by_its_creation() {
        let made = |id: &str, content: &str, at: i64| Record { created_at: Some(at), ..record(Some(id), content) };
        let before = vec![made("T-4", "Ours", 7), made("T-5", "Theirs", 8), made("T-6", "Same batch", 8)];
        let before = Document { records: before, ..Document::default() };
        let incoming = vec![made("T-4", "Theirs, reworded", 8), made("T-5", "Same batch", 8), made("T-6", "Ours", 7)];
        let incoming = Document { records: incoming, ..Document::default() };
        let MergedDocument { after, known } = merge(&before, &incoming, 7);
        let found: Vec<_> = after.records.iter().map(|r| (r.id.as_deref().unwrap(), r.content.as_str())).collect();
        assert_eq!(found, [("T-4", "Ours"), ("T-5", "Theirs, reworded"), ("T-6", "Same batch")]);
        assert_eq!(known, 3);
    }

    #[test]
    fn the_same_list_twice_is_one_list_and_clashing_ids_get_new_ones() {
        let before = Document {
            records: vec![record(Some("T-1"), "Write it"), record(Some("T-2"), "Test it")],
            ..Document::default()
        };
        let done = Record { status: RecordStatus::Stored(Status::Completed), ..record(None, "write  it") };
        let incoming = Document { records: vec![done, record(Some("T-2"), "Ship it")], ..Document::default() };
        let incoming = Document { edges: vec![(1, 0)], ..incoming };
        let MergedDocument { after, known } = merge(&before, &incoming, 3);
        let found: Vec<(&str, &str, Vec<&str>)> = after
            .records
            .iter()
            .map(|r| {
                let needs = r.depends_on.iter().map(String::as_str).collect();
                (r.id.as_deref().unwrap_or_default(), r.content.as_str(), needs)
            })
            .collect();
        assert_eq!(known, 1);
        assert_eq!(found, [("T-1", "Write it", vec![]), ("T-2", "Test it", vec![]), ("T-3", "Ship it", vec!["T-1"])]);
        assert_eq!(after.records[0].status.stored(), Status::Completed);
    }
}
