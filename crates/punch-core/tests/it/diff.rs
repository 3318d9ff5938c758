//! The difference between two versions of a document as ops.

use proptest::prelude::*;
use proptest::{collection, sample};
use punch_core::{
    Actor, Context, Document, Hold, HoldKind, InProgressLimit, MissingDep, OnCycle, Op, Plan, Policy, Record,
    RecordStatus, Remark, StartGate, Status, apply,
};

use crate::sample::{plans, text};

/// When everything happens.
const NOW: i64 = 50;

/// Rules that let everything through that a document can say.
fn lenient() -> Context {
    let policy = Policy {
        start_gate: StartGate::Warn,
        in_progress: InProgressLimit::Any,
        missing_dep: MissingDep::Dangle,
        on_cycle: OnCycle::Suspend,
        ..Policy::default()
    };
    Context::new(NOW, Actor::parse("eve", None), policy)
}

fn put(plan: &mut Plan, ops: &[Op]) {
    let outcome = apply(plan, ops, &lenient()).unwrap_or_else(|stop| panic!("{stop:?} for {ops:#?}"));
    plan.commit(&outcome);
}

fn import(document: &Document) -> Plan {
    let mut plan = Plan::new();
    put(&mut plan, &document.ops().unwrap());
    plan
}

fn json(text: &str) -> Document {
    Document::from_json(text).unwrap().document
}

/// What can be edited of a document, for comparison.
fn editable(document: &Document) -> Vec<Record> {
    let one = |record: &Record| {
        let pending = record.status.stored() == Status::Pending;
        // A timer that has run out goes with the next touch.
        let hold = record.hold.clone().filter(|hold| pending && !hold.elapsed(NOW));
        let hold = hold.map(|hold| Hold { by: String::new(), at: 0, ..hold });
        let mut notes: Vec<Remark> =
            record.notes.iter().map(|n| Remark { text: n.text.clone(), ..Remark::default() }).collect();
        notes.sort_by(|a, b| a.text.cmp(&b.text));
        Record {
            id: None,
            notes,
            hold,
            status: RecordStatus::Stored(record.status.stored()),
            priority: record.priority.filter(|p| *p != 3),
            actual_tokens: None,
            evidence: Vec::new(),
            attempts: None,
            last_error: None,
            created_at: None,
            started_at: None,
            finished_at: None,
            flags: punch_core::Marks::default(),
            ..record.clone()
        }
    };
    document.records.iter().map(one).collect()
}

/// One thing that the user may do to a document; numbers are taken modulo what is there.
#[derive(Clone, Debug)]
enum Step {
    Content(usize, String),
    Describe(usize, Option<String>),
    Priority(usize, u8),
    Files(usize, Vec<String>),
    Note(usize, String),
    Status(usize, usize),
    Hold(usize, Option<String>),
    Need(usize, usize),
    Free(usize),
    Delete(usize),
    Add(usize, String),
    Swap(usize, usize),
    Phase(usize, usize),
    NewPhase(usize, String),
    DropPhase(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let at = || 0_usize..1_000;
    let step = prop_oneof![
        (at(), text()).prop_map(|(a, t)| Step::Content(a, t)),
        (at(), proptest::option::of(text())).prop_map(|(a, t)| Step::Describe(a, t)),
        (at(), 1_u8..=5).prop_map(|(a, p)| Step::Priority(a, p)),
        (at(), collection::vec("[a-z]{1,3}", 0..3)).prop_map(|(a, f)| Step::Files(a, f)),
        (at(), text()).prop_map(|(a, t)| Step::Note(a, t)),
        (at(), sample::select(vec![0_usize, 1, 2, 3])).prop_map(|(a, s)| Step::Status(a, s)),
        (at(), proptest::option::of(text())).prop_map(|(a, t)| Step::Hold(a, t)),
        (at(), at()).prop_map(|(a, b)| Step::Need(a, b)),
        at().prop_map(Step::Free),
        at().prop_map(Step::Delete),
        (at(), text()).prop_map(|(a, t)| Step::Add(a, t)),
        (at(), at()).prop_map(|(a, b)| Step::Swap(a, b)),
        (at(), at()).prop_map(|(a, b)| Step::Phase(a, b)),
        (at(), text()).prop_map(|(a, t)| Step::NewPhase(a, t)),
        at().prop_map(Step::DropPhase),
    ];
    collection::vec(step, 0..12)
}

fn take(document: &mut Document, step: Step) {
    let count = document.records.len();
    let phases = document.phases.len();
    let pick = |at: usize| at.checked_rem(count);
    let edit = |document: &mut Document, at: usize, f: &dyn Fn(&mut Record)| {
        if let Some(at) = pick(at) {
            f(&mut document.records[at]);
        }
    };
    match step {
        Step::Content(at, text) => edit(document, at, &|r| r.content.clone_from(&text)),
        Step::Describe(at, text) => edit(document, at, &|r| r.description.clone_from(&text)),
        Step::Priority(at, priority) => edit(document, at, &|r| r.priority = Some(priority)),
        Step::Files(at, files) => edit(document, at, &|r| r.files.clone_from(&files)),
        Step::Note(at, text) => {
            edit(document, at, &|r| r.notes.push(Remark { text: text.clone(), ..Remark::default() }));
        }
        Step::Status(at, status) => edit(document, at, &|r| r.status = RecordStatus::Stored(Status::ALL[status])),
        Step::Hold(at, reason) => edit(document, at, &|r| {
            let kind = HoldKind::Human;
            r.hold = reason.clone().map(|reason| Hold { kind, reason, until: None, by: String::new(), at: 0 });
        }),
        Step::Need(at, to) => {
            let id = pick(to).and_then(|to| document.records[to].id.clone());
            edit(document, at, &|r| {
                r.depends_on.extend(id.clone().filter(|id| !r.depends_on.contains(id)));
            });
        }
        Step::Free(at) => edit(document, at, &|r| r.depends_on.clear()),
        Step::Delete(at) => {
            if let Some(at) = pick(at) {
                let gone = document.records.remove(at);
                for record in &mut document.records {
                    record.depends_on.retain(|id| Some(id) != gone.id.as_ref());
                }
            }
        }
        Step::Add(at, content) => {
            let record = Record { content, ..Record::default() };
            document.records.insert(at % (count + 1), record);
        }
        Step::Swap(a, b) => {
            if let (Some(a), Some(b)) = (pick(a), pick(b)) {
                document.records.swap(a, b);
            }
        }
        Step::Phase(at, phase) => {
            let phase = (phase % (phases + 1)).checked_sub(1);
            let name = phase.map(|at| document.phases[at].clone());
            edit(document, at, &|r| {
                r.phase.clone_from(&name);
                r.phase_index = phase.map(|at| at as u64);
            });
        }
        Step::NewPhase(at, name) => {
            let at = at % (phases + 1);
            document.phases.insert(at, name);
            for record in &mut document.records {
                record.phase_index = record.phase_index.map(|i| if i as usize >= at { i + 1 } else { i });
            }
        }
        Step::DropPhase(at) => {
            let Some(at) = at.checked_rem(phases) else { return };
            document.phases.remove(at);
            for record in &mut document.records {
                if record.phase_index == Some(at as u64) {
                    (record.phase, record.phase_index) = (None, None);
                }
                record.phase_index = record.phase_index.map(|i| if i as usize > at { i - 1 } else { i });
            }
        }
    }
}

/// Every record says its phase by index, so that names may come and go.
fn numbered(document: &Document) -> Document {
    let mut out = document.clone();
    for record in &mut out.records {
        if record.phase_index.is_none() && record.phase.is_some() {
            let at = document.phases.iter().position(|name| Some(name) == record.phase.as_ref());
            record.phase_index = at.map(|at| at as u64);
        }
    }
    out
}

/// Names and indexes as an export has them.
fn settled(document: &Document) -> Document {
    Document::from_json(&document.to_json()).unwrap().document
}

proptest! {
    #[test]
    fn no_difference_asks_for_nothing(plan in plans()) {
        let plan = import(&Document::of(&plan));
        let document = Document::of(&plan);
        prop_assert_eq!(document.diff(&document, &plan), vec![]);
        prop_assert!(document.unchangeable(&document).is_empty());
    }

    #[test]
    fn the_difference_leads_to_what_was_written(plan in plans(), steps in steps()) {
        let mut plan = import(&Document::of(&plan));
        let before = Document::of(&plan);
        let mut after = numbered(&before);
        for step in steps {
            take(&mut after, step);
        }
        let after = settled(&after);
        let ops = before.diff(&after, &plan);
        if after == before {
            prop_assert_eq!(&ops, &vec![]);
        }
        put(&mut plan, &ops);
        let now = Document::of(&plan);
        for (is, wanted) in editable(&now).iter().zip(&editable(&after)) {
            prop_assert_eq!(is.to_map(), wanted.to_map());
        }
        prop_assert_eq!(now.records.len(), after.records.len());
        prop_assert_eq!(&now.phases, &after.phases);
        // Known todos are still the same ones.
        let ids = |d: &Document| d.records.iter().filter_map(|r| r.id.clone()).collect::<Vec<_>>();
        let kept: Vec<String> = ids(&now).into_iter().filter(|id| ids(&after).contains(id)).collect();
        prop_assert_eq!(kept, ids(&after));
        prop_assert_eq!(now.diff(&now, &plan), vec![]);
    }
}

/// A change by someone else between reading and writing.
fn meanwhile(plan: &Plan, change: impl Fn(&mut Document)) -> Plan {
    let mut plan = plan.clone();
    let before = Document::of(&plan);
    let mut after = before.clone();
    change(&mut after);
    let ops = before.diff(&settled(&after), &plan);
    put(&mut plan, &ops);
    plan
}

#[test]
fn what_others_changed_meanwhile_stays() {
    let document = json(
        r#"{"phases":["A","B"],"todos":[
            {"id":"a","content":"one","phase":"A"},{"id":"b","content":"two","phase":"A","dependsOn":["a"]},
            {"id":"c","content":"three"},{"id":"d","content":"four"}]}"#,
    );
    let plan = import(&document);
    let before = Document::of(&plan);
    let mut theirs = meanwhile(&plan, |d| {
        d.records[0].status = RecordStatus::Stored(Status::Completed);
        d.records[1].depends_on.push("c".into());
        d.records[2].content = "three, better".into();
        d.records.push(Record { content: "five".into(), ..Record::default() });
        d.phases.push("C".into());
    });
    let mut mine = before.clone();
    mine.records[0].priority = Some(1);
    mine.records[1].depends_on = vec!["d".into()];
    mine.records[2].notes.push(Remark { text: "seen".into(), ..Remark::default() });
    mine.records.remove(3);
    mine.records[1].depends_on.clear();
    mine.phases.insert(0, "First".into());
    let ops = before.diff(&mine, &theirs);
    put(&mut theirs, &ops);
    let now = Document::of(&theirs);
    let brief: Vec<String> = now
        .records
        .iter()
        .map(|r| format!("{} {:?} {:?} {:?}", r.content, r.priority, r.status.name(), r.depends_on))
        .collect();
    assert_eq!(
        brief,
        [
            r#"one Some(1) "completed" []"#,
            r#"two None "pending" ["c"]"#,
            r#"three, better None "pending" []"#,
            r#"five None "pending" []"#
        ]
    );
    assert_eq!(now.phases, ["First", "A", "B", "C"]);
}

#[test]
fn work_ends_before_other_work_begins() {
    let plan = import(&json(r#"[{"id":"a","content":"one"},{"id":"b","content":"two","status":"in_progress"}]"#));
    let before = Document::of(&plan);
    let mut after = before.clone();
    after.records[0].status = RecordStatus::Stored(Status::InProgress);
    after.records[1].status = RecordStatus::Stored(Status::Completed);
    let ops = before.diff(&after, &plan);
    let strict = Context { policy: Policy::default(), ..lenient() };
    assert!(apply(&plan, &ops, &strict).is_ok(), "{ops:?}");
}

#[test]
fn a_todo_that_is_gone_cannot_be_edited_and_need_not_be_deleted() {
    let plan = import(&json(r#"[{"id":"a","content":"one"},{"id":"b","content":"two"}]"#));
    let before = Document::of(&plan);
    let gone = meanwhile(&plan, |d| drop(d.records.remove(0)));
    let mut deleted = before.clone();
    deleted.records.remove(0);
    assert_eq!(before.diff(&deleted, &gone), []);
    let mut edited = before.clone();
    edited.records[0].content = "changed".into();
    let ops = before.diff(&edited, &gone);
    assert!(apply(&gone, &ops, &lenient()).is_err(), "{ops:?}");
}

#[test]
fn history_is_named_when_somebody_changes_it() {
    let before = json(r#"[{"id":"a","content":"one","attempts":1,"notes":["x"]},{"id":"b","content":"two"}]"#);
    let mut after = before.clone();
    after.records[0].notes.clear();
    after.records[1].content = "fine".into();
    assert_eq!(before.unchangeable(&after), ["a"]);
}

#[test]
fn notes_without_a_date_come_in_beside_a_history() {
    let plan = import(&json(r#"[{"id":"a","content":"one","createdAt":7,"notes":["x"]}]"#));
    assert_eq!(plan.by_id("a").unwrap().notes[0].text, "x");
}
