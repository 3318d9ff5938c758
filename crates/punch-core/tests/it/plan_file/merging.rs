//! The merge never loses what one side did, and once carried out there is nothing left to do.

use std::collections::BTreeMap;

use proptest::prelude::*;
use punch_core::Status;
use punch_core::plan_file::{
    AgreedTodo, FileForm, MergeField, MergeSide, PlanFileEdit, PlanFileMerge, PlanFileTodo, merge, settled,
};

fn item(id: &str, content: &str, status: Status, dependencies: &[&str]) -> PlanFileTodo {
    let dependencies = dependencies.iter().map(|id| (*id).to_owned()).collect();
    PlanFileTodo { id: id.into(), content: content.into(), status, dependencies }
}

fn agreed(items: &[PlanFileTodo]) -> Vec<AgreedTodo> {
    items.iter().map(|item| AgreedTodo { file: item.clone(), plan: item.clone() }).collect()
}

/// A naive file that takes writes.
fn written(file: &[PlanFileTodo], writes: &[PlanFileEdit]) -> Vec<PlanFileTodo> {
    let mut file = file.to_vec();
    for write in writes {
        match write {
            PlanFileEdit::Id(at, id) => file[*at].id.clone_from(id),
            PlanFileEdit::Status(at, Status::Failed) => file[*at].status = Status::Cancelled,
            PlanFileEdit::Status(at, status) => file[*at].status = *status,
            PlanFileEdit::Content(at, content) => file[*at].content.clone_from(content),
            PlanFileEdit::Dependencies(at, ids) => file[*at].dependencies.clone_from(ids),
            PlanFileEdit::Add(item) => file.push(item.clone()),
        }
    }
    file
}

/// A naive plan that takes what people want.
fn taken(plan: &[PlanFileTodo], merged: &PlanFileMerge) -> Vec<PlanFileTodo> {
    let wanted: BTreeMap<&str, &PlanFileTodo> = merged.after.iter().map(|item| (item.id.as_str(), item)).collect();
    let known: Vec<&str> = merged.before.iter().map(|item| item.id.as_str()).collect();
    let kept = plan.iter().filter(|item| wanted.contains_key(item.id.as_str()) || !known.contains(&item.id.as_str()));
    let mut out: Vec<PlanFileTodo> =
        kept.map(|item| wanted.get(item.id.as_str()).map_or(item, |new| *new).clone()).collect();
    let new = merged.after.iter().filter(|item| !known.contains(&item.id.as_str()));
    out.extend(new.cloned());
    out
}

#[test]
fn each_side_gets_what_the_other_did() {
    use Status::{Completed, InProgress, Pending};
    let base = [item("a", "A", Pending, &[]), item("b", "B", Pending, &["a"]), item("c", "C", Pending, &[])];
    let file =
        [item("c", "C", Pending, &[]), item("a", "A!", Pending, &[]), item("n", "N", Pending, &[]), base[1].clone()];
    let plan = [item("a", "A", InProgress, &[]), base[1].clone(), item("c", "C, really", Completed, &["a"])];
    let merged = merge(FileForm::FrontMatter, &agreed(&base), &file, &plan);
    assert!(merged.conflicts.is_empty());
    assert_eq!(merged.before, plan);
    assert_eq!(
        merged.after,
        [plan[2].clone(), item("a", "A!", InProgress, &[]), item("n", "N", Pending, &[]), base[1].clone()]
    );
    assert_eq!(
        merged.writes,
        [
            PlanFileEdit::Content(0, "C, really".into()),
            PlanFileEdit::Dependencies(0, vec!["a".into()]),
            PlanFileEdit::Status(0, Completed),
            PlanFileEdit::Status(1, InProgress)
        ]
    );
}

#[test]
fn a_line_reworded_on_both_sides_is_one_todo_with_a_conflict() {
    use Status::Pending;
    let base = [item("a", "A", Pending, &[]), item("b", "Write docs", Pending, &[]), item("c", "C", Pending, &["b"])];
    let plan = [base[0].clone(), item("b", "Write the manual", Pending, &[]), base[2].clone()];
    let other = "Explain everything";
    let file = [base[0].clone(), item("", other, Pending, &[]), base[2].clone()];
    let merged = merge(FileForm::Checklist, &agreed(&base), &file, &plan);
    assert_eq!(merged.after, [base[0].clone(), item("b", other, Pending, &[]), base[2].clone()]);
    assert_eq!(merged.writes, [PlanFileEdit::Id(1, "b".into())]);
    assert_eq!(merged.deleted, [""; 0]);
    let [conflict] = merged.conflicts.as_slice() else { panic!("{:?}", merged.conflicts) };
    assert_eq!((conflict.field, conflict.took), (MergeField::Content, MergeSide::File));
    assert_eq!((conflict.file.as_str(), conflict.plan.as_str()), (other, "Write the manual"));
    // A line that moved as well may be anything: it is new, and what the plan changed stays.
    let moved = [item("", other, Pending, &[]), base[0].clone(), base[2].clone()];
    let merged = merge(FileForm::Checklist, &agreed(&base), &moved, &plan);
    let fields: Vec<MergeField> = merged.conflicts.iter().map(|conflict| conflict.field).collect();
    assert_eq!((merged.writes.len(), fields), (0, vec![MergeField::Presence]));
}

#[test]
fn of_two_words_the_persons_counts_and_both_are_told() {
    let base = [item("a", "A", Status::Pending, &[])];
    let file = [item("a", "A of the file", Status::Cancelled, &[])];
    let plan = [item("a", "A of the plan", Status::Completed, &[])];
    let merged = merge(FileForm::FrontMatter, &agreed(&base), &file, &plan);
    assert_eq!(merged.after, file);
    let told: Vec<(MergeField, &str, &str, MergeSide)> =
        merged.conflicts.iter().map(|c| (c.field, c.file.as_str(), c.plan.as_str(), c.took)).collect();
    assert_eq!(
        told,
        [
            (MergeField::Content, "A of the file", "A of the plan", MergeSide::File),
            (MergeField::Status, "cancelled", "completed", MergeSide::File)
        ]
    );
    assert!(merged.writes.is_empty());
}

#[test]
fn what_one_side_removed_and_the_other_changed_stays_with_the_other() {
    let base = [item("a", "A", Status::Pending, &[]), item("b", "B", Status::Pending, &[])];
    let file = [item("b", "B of the file", Status::Pending, &[])];
    let plan = [item("a", "A", Status::InProgress, &[])];
    let merged = merge(FileForm::FrontMatter, &agreed(&base), &file, &plan);
    assert!(merged.deleted.is_empty() && merged.writes.is_empty() && !merged.asks());
    assert_eq!(
        merged.conflicts.iter().map(|c| (c.id.as_str(), c.field)).collect::<Vec<_>>(),
        [("b", MergeField::Presence), ("a", MergeField::Presence)]
    );
    // The next time neither comes back.
    let base = settled(&agreed(&base), &file, &plan, &[]);
    let again = merge(FileForm::FrontMatter, &base, &file, &plan);
    assert!(again.conflicts.is_empty() && !again.asks() && again.writes.is_empty());
    assert_eq!(again.absent, plan);
}

#[test]
fn a_status_that_was_refused_stays_a_change_of_the_person() {
    let base = agreed(&[item("a", "A", Status::Pending, &[])]);
    let file = [item("a", "A", Status::Cancelled, &[])];
    let plan = [item("a", "A", Status::InProgress, &[])];
    let base = settled(&base, &file, &plan, &["a".into()]);
    let again = merge(FileForm::FrontMatter, &base, &file, &plan);
    assert_eq!(again.after[0].status, Status::Cancelled);
    assert!(again.writes.is_empty());
}

#[test]
fn a_todo_without_an_id_that_came_in_before_is_recognised() {
    let file = [item("", "New", Status::Pending, &[])];
    let merged = merge(FileForm::FrontMatter, &[], &file, &[item("T-1", "New", Status::InProgress, &[])]);
    assert_eq!(merged.writes, [PlanFileEdit::Id(0, "T-1".into()), PlanFileEdit::Status(0, Status::InProgress)]);
    assert!(!merged.asks());
    assert_eq!(merge(FileForm::FrontMatter, &[], &file, &[]).after, file);
}

#[test]
fn what_the_file_cannot_carry_is_no_change() {
    let base = agreed(&[item("a", "A", Status::Pending, &[])]);
    let plan = [item("a", "A", Status::Failed, &[])];
    let file = [item("a", "A", Status::Pending, &[])];
    let merged = merge(FileForm::FrontMatter, &base, &file, &plan);
    let file = written(&file, &merged.writes);
    assert_eq!(file[0].status, Status::Cancelled);
    let again = merge(FileForm::FrontMatter, &settled(&base, &file, &plan, &[]), &file, &plan);
    assert!(!again.asks() && again.writes.is_empty());
}

fn status() -> impl Strategy<Value = Status> {
    prop::sample::select(vec![Status::Pending, Status::InProgress, Status::Completed, Status::Cancelled])
}

/// What one side made of a todo: it is gone, or it has other words, another status, other dependencies.
type Fate = (bool, Option<u8>, Option<Status>, Option<u8>);

fn fate() -> impl Strategy<Value = Fate> {
    (prop::bool::weighted(0.15), prop::option::of(0..3_u8), prop::option::of(status()), prop::option::of(0..3_u8))
}

fn changed(base: &[PlanFileTodo], fates: &[Fate]) -> Vec<PlanFileTodo> {
    let change = |(item, fate): (&PlanFileTodo, &Fate)| {
        (!fate.0).then(|| PlanFileTodo {
            id: item.id.clone(),
            content: fate.1.map_or(item.content.clone(), |n| format!("words {n}")),
            status: fate.2.unwrap_or(item.status),
            dependencies: fate.3.map_or(item.dependencies.clone(), |n| vec![format!("d{n}")]),
        })
    };
    base.iter().zip(fates).filter_map(change).collect()
}

proptest! {
    #[test]
    fn no_edit_of_either_side_is_lost(
        todos in prop::collection::vec((status(), fate(), fate()), 0..8),
        new_file in prop::collection::vec(status(), 0..3), new_plan in prop::collection::vec(status(), 0..3),
        turn in any::<prop::sample::Index>(),
    ) {
        let base: Vec<PlanFileTodo> =
            todos.iter().enumerate().map(|(n, (s, ..))| item(&format!("t{n}"), &format!("base {n}"), *s, &[])).collect();
        let mut file = changed(&base, &todos.iter().map(|(_, fate, _)| *fate).collect::<Vec<_>>());
        let mut plan = changed(&base, &todos.iter().map(|(_, _, fate)| *fate).collect::<Vec<_>>());
        file.extend(new_file.iter().enumerate().map(|(n, s)| item(&format!("f{n}"), "new in the file", *s, &[])));
        plan.extend(new_plan.iter().enumerate().map(|(n, s)| item(&format!("p{n}"), "new in the plan", *s, &[])));
        if !file.is_empty() {
            let by = turn.index(file.len());
            file.rotate_left(by);
        }
        let known = agreed(&base);
        let merged = merge(FileForm::FrontMatter, &known, &file, &plan);
        let (file_after, plan_after) = (written(&file, &merged.writes), taken(&plan, &merged));
        let find = |items: &[PlanFileTodo], id: &str| items.iter().find(|item| item.id == id).cloned();
        let told = |id: &str, field| merged.conflicts.iter().any(|c| c.id == id && c.field == field);
        for old in &base {
            let (f, p) = (find(&file, &old.id), find(&plan, &old.id));
            let (after_f, after_p) = (find(&file_after, &old.id), find(&plan_after, &old.id));
            match (f, p) {
                (Some(f), Some(p)) => {
                    let (after_f, after_p) = (after_f.unwrap(), after_p.unwrap());
                    prop_assert_eq!(&after_f, &after_p, "both say the same");
                    // The naive rule, field by field.
                    let one = |b: &str, f: &str, p: &str| if f == b { p.to_owned() } else { f.to_owned() };
                    prop_assert_eq!(&after_p.content, &one(&old.content, &f.content, &p.content));
                    prop_assert_eq!(after_p.status.name(), one(old.status.name(), f.status.name(), p.status.name()));
                    let deps = |i: &PlanFileTodo| i.dependencies.join(",");
                    prop_assert_eq!(deps(&after_p), one(&deps(old), &deps(&f), &deps(&p)));
                    let both = |b: &str, f: &str, p: &str| f != b && p != b && f != p;
                    prop_assert_eq!(told(&old.id, MergeField::Content), both(&old.content, &f.content, &p.content));
                    prop_assert_eq!(
                        told(&old.id, MergeField::Status), both(old.status.name(), f.status.name(), p.status.name()));
                }
                (Some(f), None) => {
                    prop_assert_eq!(after_f, Some(f.clone()));
                    prop_assert_eq!(told(&old.id, MergeField::Presence), f != *old);
                }
                (None, Some(p)) if p == *old => prop_assert_eq!(after_p, None),
                (None, Some(p)) => {
                    prop_assert_eq!(after_p, Some(p));
                    prop_assert!(told(&old.id, MergeField::Presence));
                }
                (None, None) => {}
            }
        }
        for new in file.iter().filter(|i| i.id.starts_with('f')) {
            prop_assert_eq!(find(&plan_after, &new.id), Some(new.clone()));
        }
        for new in plan.iter().filter(|i| i.id.starts_with('p')) {
            prop_assert_eq!(find(&plan_after, &new.id), Some(new.clone()));
            prop_assert!(find(&file_after, &new.id).is_none() && merged.absent.contains(new));
        }
        let again = merge(FileForm::FrontMatter, &settled(&known, &file_after, &plan_after, &[]), &file_after, &plan_after);
        prop_assert_eq!(&again.writes, &[]);
        prop_assert_eq!(&again.conflicts, &[]);
        let sorted = |items: &[PlanFileTodo]| { let mut ids: Vec<PlanFileTodo> = items.to_vec(); ids.sort_by(|a, b| a.id.cmp(&b.id)); ids };
        prop_assert_eq!(sorted(&again.before), sorted(&again.after));
    }
}
