//! What every store promises, written once and stamped into every backend. The test binaries of this crate and of other
//! backends include this folder as a module.

mod hand_out;
mod history;
mod live;
pub mod ops;
mod plans;
pub mod random;
mod reading;
mod records;
pub mod submit;
mod transactions;

use std::any::Any;

use punch_store::{Catalogue, PlanId, Store, StoreError};

pub use hand_out::*;
pub use history::*;
pub use live::*;
pub use plans::*;
pub use reading::*;
pub use records::*;
pub use transactions::*;

/// A store for one test, with what must outlive it.
pub struct Place<S: ?Sized> {
    pub store: Box<S>,
    pub _keep: Option<Box<dyn Any>>,
}

/// Makes one test of each promise for a backend.
macro_rules! contract {
    ($backend:ident, $open:path) => {
        crate::contract::contract!(@tests $backend, $open,
            a_fresh_plan_is_empty,
            plans_have_names_of_their_own,
            plans_do_not_mix,
            an_unknown_plan_is_refused,
            a_body_that_fails_leaves_no_trace,
            a_body_that_panics_leaves_no_trace,
            a_transaction_reads_its_own_writes,
            what_a_transaction_closes_is_told_and_nothing_else,
            an_outcome_of_another_revision_is_a_conflict,
            ids_change_hands_in_one_write,
            events_come_in_whole_revisions,
            answers_are_kept_for_a_day,
            sessions_belong_to_the_store,
            sessions_that_were_not_seen_for_long_are_forgotten,
            decisions_are_kept_newest_first_and_not_for_ever,
            held_todos_are_found_without_the_others,
            checkpoints_come_newest_first,
            what_attempts_took_is_summed_by_todo_and_attempt,
            the_ledger_of_a_run_is_kept_as_it_was_written,
            runs_are_kept_by_plan_and_come_newest_first,
            pruned_events_become_the_baseline,
            an_export_that_fails_prunes_nothing,
            changes_wake_up,
            a_write_that_changes_nothing_wakes_nobody,
            a_read_sees_one_moment,
            open_todos_are_found_by_what_they_say,
            pages_are_parts_of_the_list,
            the_stamp_moves_with_every_commit_and_only_then,
            the_identity_is_random_and_stays,
            hints_about_what_a_write_reads_change_nothing,
            the_clock_of_a_store_is_the_same_everywhere,
            the_next_moment_is_the_first_end_of_a_lease_or_timer,
            activity_is_numbered_by_plan_and_comes_in_order,
            old_activity_is_forgotten_and_the_gap_is_seen,
            a_question_is_answered_once,
            racing_answers_have_one_winner,
            settled_questions_are_forgotten_and_open_ones_are_not,
            controls_say_what_is_wanted_until_it_is_to_go,
            seats_and_controls_end_with_their_run,
            readers_have_a_marker_each_and_are_not_kept_for_ever,
            one_runner_at_a_time_has_the_plan,
            a_name_of_a_worker_belongs_to_its_latest_process,
            batches_are_kept_by_owner_and_not_for_ever,
            offers_are_kept_by_owner_and_run_out,
            files_of_completed_todos_are_forgotten_in_time,
            announced_calls_are_kept_until_they_come,
            facts_about_the_clone_are_kept,
        );
    };
    (@tests $backend:ident, $open:path, $($test:ident,)*) => {
        mod $backend {
            $(#[test]
            fn $test() {
                // Without a server there is nothing to test; whoever looks for one says so.
                if let Some(place) = $open() {
                    crate::contract::$test(place.store.as_ref());
                }
            })*

            #[test]
            fn a_store_holds_what_was_put_and_slices_are_enough() {
                crate::contract::random::a_store_holds_what_was_put_and_slices_are_enough($open);
            }
        }
    };
}
pub(crate) use contract;

fn plan(store: &dyn Store) -> PlanId {
    store.create_plan("main", 1).unwrap()
}

fn browse<T>(store: &dyn Store, mut f: impl FnMut(&dyn Catalogue) -> Result<T, StoreError>) -> T {
    let mut out = None;
    store
        .browse(&mut |catalogue| {
            out = Some(f(catalogue)?);
            Ok(())
        })
        .unwrap();
    out.unwrap()
}
