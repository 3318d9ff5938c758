//! Decides when the check of a whole plan is due. The check is a todo of the plan with its own label, so it is
//! reported, refuted, explained, worked on and shown like every other todo with a check.

use std::collections::BTreeSet;

use crate::{Add, Counts, Edit, Keep, Label, LabelEdit, Op, Plan, Ref, Status, Todo, Verify};

/// The label by which the todo is recognized.
pub const PLAN_CHECK: &str = "plan-check";

/// The content of the todo that stands for the check.
const CONTENT: &str = "Pass the check of the whole plan";

/// Returns true for the todo that stands for the check of the whole plan.
pub fn is_plan_check(todo: &Todo) -> bool {
    todo.labels.iter().any(|label| label.as_str() == PLAN_CHECK)
}

/// Returns true if, by these counts, nothing is left to do in a plan.
pub const fn may_be_finished(counts: &Counts) -> bool {
    counts.open() == 0 && counts.completed > 0
}

/// Returns the ops that report the check of the whole plan as due: on its todo, which is added first or opened again.
/// Empty if something is still open or failed, or if the check has already decided about all that is done. `plan` is
/// loaded as a whole.
pub fn due_plan_check(plan: &Plan, command: &Verify) -> Vec<Op> {
    let live = plan.live();
    let others = || live.iter().filter(|todo| !is_plan_check(todo));
    let is_finished = may_be_finished(&plan.row.counts)
        && others().any(|todo| todo.status == Status::Completed)
        && others().all(|todo| todo.status != Status::Failed);
    if !is_finished {
        return Vec::new();
    }
    let check = live.iter().rev().find(|todo| is_plan_check(todo));
    let newest = others().filter_map(|todo| todo.finished_at).max();
    if check.is_some_and(|check| check.finished_at >= newest && is_decided(check, command)) {
        return Vec::new();
    }
    let mut ops = Vec::new();
    let target = match check {
        Some(check) => {
            let target = Ref::Uid(check.uid);
            ops.push(Op::Reopen(target.clone()));
            if check.verify.as_ref() != Some(command) {
                let edit = Edit { verify: Keep::Set(Some(command.clone())), ..Edit::default() };
                ops.push(Op::Edit(target.clone(), edit));
            }
            target
        }
        None => {
            let labels = Label::parse(PLAN_CHECK).into_iter().collect::<BTreeSet<_>>();
            let edit = Edit {
                content: Keep::Set(CONTENT.to_owned()),
                verify: Keep::Set(Some(command.clone())),
                labels: LabelEdit::Set(labels),
                ..Edit::default()
            };
            ops.push(Op::Add(Add { edit, ..Add::default() }));
            Ref::New(0)
        }
    };
    ops.push(Op::Start(target.clone()));
    ops.push(Op::Report { target, evidence: None, fence: None });
    ops
}

/// A completion by word decides nothing; a user who cancelled it, or a check that failed for good, does.
fn is_decided(check: &Todo, command: &Verify) -> bool {
    let last = check.evidence.iter().rev().find(|one| one.command.is_some());
    let passed = last.is_some_and(|last| last.command.as_ref() == Some(command) && last.passed());
    check.status != Status::Completed || passed
}
