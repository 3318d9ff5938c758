//! The way of a change as an engine does it: load, apply, put, in one transaction.

use punch_core::{
    Actor, Add, ApplyStop, Context, Edit, Footprint, Keep, Op, Outcome, Plan, Policy, Ref, Refusal, apply,
};
use punch_store::{Durability, PlanId, Snapshot, Store, StoreError};

/// A caller at a time.
pub fn context(now: i64, owner: Option<&str>, policy: Policy) -> Context {
    Context::new(now, Actor::parse(owner.unwrap_or("someone"), owner), policy)
}

/// Adds a todo with that content.
pub fn add(content: &str) -> Op {
    Op::Add(Add { edit: Edit { content: Keep::Set(content.to_owned()), ..Edit::default() }, ..Add::default() })
}

/// Adds a todo with that id and dependencies.
pub fn add_as(id: &str, needs: &[&str]) -> Op {
    let depends_on = Keep::Set(needs.iter().map(|id| Ref::Id((*id).to_owned())).collect());
    Op::Add(Add { id: Some(id.to_owned()), edit: Edit { depends_on, ..Edit::default() }, ..Add::default() })
}

pub fn done(id: &str) -> Op {
    Op::Done { target: Ref::Id(id.to_owned()), evidence: None, fence: None }
}

/// Changes what a todo says.
pub fn say(id: &str, content: &str) -> Op {
    Op::Edit(Ref::Id(id.to_owned()), Edit { content: Keep::Set(content.to_owned()), ..Edit::default() })
}

/// The ids of the open todos that say one of these.
pub fn saying(store: &dyn Store, plan: PlanId, contents: &[&str]) -> Vec<String> {
    let contents = contents.iter().map(|content| (*content).to_owned()).collect();
    look(store, plan, |s| Ok(s.find_open_by_content(&contents)?.iter().map(|todo| todo.id.clone()).collect()))
}

/// Applies a batch on slices, all or nothing.
pub fn submit(
    store: &dyn Store,
    plan: PlanId,
    durability: Durability,
    ops: &[Op],
    ctx: &Context,
) -> Result<Result<Outcome, Vec<Refusal>>, StoreError> {
    let mut answer = None;
    let written = store.write(plan, durability, &mut |tx| {
        let applied = apply_on_slices(tx, ops, ctx)?;
        let outcome = answer.insert(applied).as_ref().map_err(|_| StoreError::Abort)?;
        tx.put(outcome)
    });
    match (written, answer) {
        (Err(StoreError::Abort), Some(refused)) => Ok(refused),
        (Err(error), _) => Err(error),
        (Ok(()), answer) => Ok(answer.unwrap()),
    }
}

fn apply_on_slices(
    snapshot: &dyn Snapshot,
    ops: &[Op],
    ctx: &Context,
) -> Result<Result<Outcome, Vec<Refusal>>, StoreError> {
    let mut plan = Plan::slice(snapshot.row()?);
    let mut asked = Footprint::of(ops);
    snapshot.load(&asked, &mut plan)?;
    loop {
        match apply(&plan, ops, ctx) {
            Ok(outcome) => return Ok(Ok(outcome)),
            Err(ApplyStop::Refused(refusals)) => return Ok(Err(refusals)),
            Err(ApplyStop::Need(need)) => {
                let before = asked.clone();
                asked.merge((*need).clone());
                assert_ne!(before, asked, "what was loaded is asked for again");
                snapshot.load(&need, &mut plan)?;
            }
        }
    }
}

/// Applies a batch that must succeed, durably.
pub fn must(store: &dyn Store, plan: PlanId, now: i64, ops: &[Op]) -> Outcome {
    submit(store, plan, Durability::Full, ops, &context(now, None, Policy::default())).unwrap().unwrap()
}

/// Everything that is stored about a plan.
pub fn whole(store: &dyn Store, plan: PlanId) -> Plan {
    let mut out = Plan::new();
    store
        .read(plan, &mut |snapshot| {
            out = Plan::slice(snapshot.row()?);
            snapshot.load(&Footprint::everything(), &mut out)
        })
        .unwrap();
    assert!(out.need_whole().is_ok());
    out
}

/// Runs a read and answers what it found.
pub fn look<T>(store: &dyn Store, plan: PlanId, mut f: impl FnMut(&dyn Snapshot) -> Result<T, StoreError>) -> T {
    let mut out = None;
    store
        .read(plan, &mut |snapshot| {
            out = Some(f(snapshot)?);
            Ok(())
        })
        .unwrap();
    out.unwrap()
}
