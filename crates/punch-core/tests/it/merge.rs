//! Two sessions at once: the payload is compared with what its session was shown, and only that difference is asked
//! for (rule 9).

use proptest::collection::vec;
use proptest::prelude::*;
use punch_core::dialect::{cursor, list, todowrite};
use punch_core::{Actor, Context, Plan, Policy, Refusal, Status, Todo, Uid};
use punch_testkit::ask::ModelOp;
use punch_testkit::batches::{batch, sequences};
use punch_testkit::calls::{self, CallWords};
use punch_testkit::source::ByteSource;

use crate::bridge;
use crate::pair::Pair;

fn run(pair: &mut Pair, choices: &[Vec<u8>]) {
    for bytes in choices {
        let mut batch = batch(bytes, &pair.model);
        batch.asks.retain(|ask| !matches!(ask, ModelOp::Claim(..) | ModelOp::Rules(_)));
        let _ = pair.run(&batch).unwrap_or_else(|what| panic!("{what}"));
    }
}

fn words(plan: &Plan) -> CallWords {
    let mut words = CallWords::default();
    words.ids.extend(plan.live().iter().map(|todo| todo.id.clone()));
    words.texts.extend(plan.live().iter().map(|todo| todo.content.clone()).filter(|text| !text.is_empty()));
    words
}

/// What one session asked for, on top of what another did since.
struct Merge {
    base: list::SessionList,
    asked: list::SessionList,
    now: Plan,
    after: Plan,
}

impl Merge {
    fn of(base: list::SessionList, asked: list::SessionList, now: &Plan, policy: Policy) -> Result<Self, Vec<Refusal>> {
        let ctx = Context::new(now.row.last_time + 1, Actor::user().signing("late"), policy);
        let outcome = bridge::submit(now, &list::diff(&base, &asked, now), &ctx)?;
        let mut after = now.clone();
        after.commit(&outcome);
        crate::pair::rederived(&after).unwrap_or_else(|what| panic!("{what}"));
        // What another session has completed since is not started again: that counts as not asked for.
        let mut asked = asked;
        for item in asked.items.iter_mut().filter(|item| item.status == Status::InProgress) {
            let was = base.items.iter().find(|old| old.uid == item.uid).map(|old| old.status);
            let is = item.uid.and_then(|uid| now.get(uid)).map(|todo| todo.status);
            if let Some(was) = was.filter(|was| *was != Status::Completed && is == Some(Status::Completed)) {
                item.status = was;
            }
        }
        Ok(Self { base, asked, now: now.clone(), after })
    }

    /// Checks one value of every row that is there all the way.
    fn keeps<T: PartialEq + std::fmt::Debug>(
        &self,
        shown: impl Fn(&list::ListItem) -> T,
        stored: impl Fn(&Todo) -> T,
    ) -> Result<(), TestCaseError> {
        let row = |list: &list::SessionList, uid: Uid| list.items.iter().find(|item| item.uid == Some(uid)).map(&shown);
        for todo in self.now.live() {
            let after = self.after.get(todo.uid).expect("nothing is destroyed");
            let (was, is) = (row(&self.base, todo.uid), row(&self.asked, todo.uid));
            if was.is_none() {
                prop_assert!(after.is_live(), "{} was never shown and is gone", todo.id);
            }
            match is {
                // Left out on purpose, or never shown: then it stays.
                None => prop_assert_eq!(after.is_live(), was.is_none()),
                Some(value) if was.as_ref() != Some(&value) => prop_assert_eq!(stored(after), value),
                Some(_) => prop_assert_eq!(stored(after), stored(todo)),
            }
        }
        Ok(())
    }

    fn checks(&self) -> Result<(), TestCaseError> {
        // A lease that has run out may be written down on the way.
        let at = self.now.row.last_time + 1;
        let shown = |todo: &Todo| match todo.status_at(at) {
            Status::Failed => Status::Pending,
            other => other,
        };
        self.keeps(|item| item.content.clone(), |todo| todo.content.clone())?;
        self.keeps(|item| item.status, shown)?;
        for todo in self.now.all() {
            let after = self.after.get(todo.uid).expect("nothing is destroyed");
            prop_assert_eq!(after.priority, todo.priority);
            prop_assert_eq!(after.phase, todo.phase);
            prop_assert_eq!(&after.notes, &todo.notes);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_another_session_changed_stays(
        first in sequences(8),
        meanwhile in sequences(4),
        bytes in vec(any::<u8>(), 0..50),
    ) {
        let mut pair = Pair::new();
        run(&mut pair, &first);
        let (by_cursor, by_todowrite) = (cursor::project(&pair.plan), todowrite::project(&pair.plan));
        let (source, words) = (&mut ByteSource::new(&bytes), words(&pair.plan));
        let (one, two) = (calls::cursor(source, &words), calls::todowrite(source, &words));
        run(&mut pair, &meanwhile);
        let plan = &pair.plan;
        if let Ok(call) = cursor::read(&one) {
            let mut made = 0;
            let asked = cursor::step(&by_cursor, &call, &mut || { made += 1; format!("made-{made}") }).list;
            let policy = cursor::policy(plan.row.policy);
            match Merge::of(cursor::to_list(&by_cursor), cursor::to_list(&asked), plan, policy) {
                Ok(merge) => merge.checks()?,
                // Both sessions gave one id to different work.
                Err(refusals) => prop_assert_eq!(refusals[0].code(), "duplicate_id"),
            }
        }
        if let Ok(rows) = todowrite::read(&two) {
            let asked = todowrite::step(&by_todowrite, rows);
            let policy = todowrite::policy(plan.row.policy);
            let merge = Merge::of(todowrite::to_list(by_todowrite.clone()), todowrite::to_list(asked.clone()), plan, policy);
            merge.map_err(|r| TestCaseError::fail(format!("{r:?}")))?.checks()?;
        }
    }
}

#[test]
fn the_same_failed_check_twice_in_one_batch_is_stored_once() {
    let first = vec![0, 0, 0, 0, 56, 0, 0, 0, 0, 0, 0, 0, 84, 0, 0, 0, 0, 77, 1, 0, 0];
    let twice = vec![0, 0, 0, 0, 5, 50, 0, 0, 38, 0, 113, 0, 0, 182, 38, 0, 29, 24, 0, 44, 0, 0, 0, 0];
    run(&mut Pair::new(), &[first, twice, Vec::new()]);
}
