//! The seats of a worker, shared by all its plans: a free one goes to the plan whose next todo is the most urgent.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use punch_store::PlanId;

/// The seats of a worker.
#[derive(Debug)]
pub(crate) struct SeatPool {
    seats: usize,
    plans: Mutex<BTreeMap<PlanId, PlanSeats>>,
}

/// The seats that a plan has, and whether it needs more.
#[derive(Clone, Copy, Debug, Default)]
struct PlanSeats {
    taken: usize,
    /// The priority of the todo that waits for a seat; smaller numbers come first.
    wants: Option<u8>,
}

impl SeatPool {
    pub fn new(seats: usize) -> Self {
        Self { seats, plans: Mutex::default() }
    }

    /// Takes a seat for a todo of this priority. False if none is free, or another plan waits with a more urgent todo.
    pub fn take(&self, plan: PlanId, priority: u8) -> bool {
        let mut plans = self.lock();
        plans.entry(plan).or_default().wants = Some(priority);
        let taken: usize = plans.values().map(|plan| plan.taken).sum();
        let is_first = plans.iter().all(|(other, of)| *other == plan || of.wants.is_none_or(|wants| wants >= priority));
        if taken >= self.seats || !is_first {
            return false;
        }
        let own = plans.entry(plan).or_default();
        own.taken += 1;
        own.wants = None;
        true
    }

    /// Returns the seats of a plan to the others when dropped, however the work on the plan ends.
    pub fn lend(&self, plan: PlanId) -> LentSeats<'_> {
        LentSeats { pool: self, plan }
    }

    /// Sets how many seats a plan really uses. It waits for none until it asks again.
    pub fn settle(&self, plan: PlanId, taken: usize) {
        self.lock().insert(plan, PlanSeats { taken, wants: None });
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PlanId, PlanSeats>> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The seats that a plan uses while it is worked on.
#[derive(Debug)]
pub(crate) struct LentSeats<'p> {
    pool: &'p SeatPool,
    plan: PlanId,
}

impl Drop for LentSeats<'_> {
    fn drop(&mut self) {
        self.pool.settle(self.plan, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_seat_goes_to_the_most_urgent_todo_of_all_plans() {
        let (pool, a, b) = (SeatPool::new(2), PlanId(1), PlanId(2));
        assert!(pool.take(a, 3) && pool.take(a, 3));
        assert!(!pool.take(b, 1), "no seat is free");
        pool.settle(a, 1);
        assert!(!pool.take(a, 3), "the other plan waits with something more urgent");
        assert!(pool.take(b, 1));
        pool.settle(b, 0);
        assert!(pool.take(a, 3), "nothing waits any more");
    }

    #[test]
    fn work_on_a_plan_that_fails_keeps_no_seats() {
        let (pool, a, b) = (SeatPool::new(1), PlanId(1), PlanId(2));
        let work = || -> Result<(), ()> {
            let _lent = pool.lend(a);
            assert!(pool.take(a, 3) && !pool.take(a, 1), "it has the seat, and waits for one more");
            Err(())
        };
        work().unwrap_err();
        assert!(pool.take(b, 3));
    }
}
