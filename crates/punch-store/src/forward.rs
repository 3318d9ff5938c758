//! Forwards the methods of a transaction to the functions of a backend. Most methods are about one kind of record, and
//! each kind has a module in every SQL backend: `activity`, `control`, `events`, `hand_out`, `ledger`, `load`,
//! `question`, `reader` and `worker`. Their functions take the transaction first. Backends use these macros inside
//! their `impl`s.

/// Writes methods that hand their arguments to functions of these modules.
#[doc(hidden)]
#[macro_export]
macro_rules! forward {
    (read $($name:ident($($arg:ident: $type:ty),*) -> $answer:ty = $module:ident::$function:ident;)+) => {
        $(fn $name(&self, $($arg: $type),*) -> Result<$answer, $crate::StoreError> {
            $module::$function(self, $($arg),*)
        })+
    };
    (write $($name:ident($($arg:ident: $type:ty),*) -> $answer:ty = $module:ident::$function:ident;)+) => {
        $(fn $name(&mut self, $($arg: $type),*) -> Result<$answer, $crate::StoreError> {
            $module::$function(self, $($arg),*)
        })+
    };
}

/// Methods of [`crate::Catalogue`] that the modules of a backend answer.
#[macro_export]
macro_rules! forward_catalogue {
    () => {
        $crate::forward! { read
            control(scope: &$crate::ControlScope) -> Option<$crate::ControlRecord> = control::one;
            expected_calls() -> Vec<$crate::ExpectedCall> = hand_out::expected_calls;
            workers() -> Vec<$crate::WorkerRecord> = worker::all;
        }
    };
}

/// Methods of [`crate::Snapshot`] that the modules of a backend answer.
#[macro_export]
macro_rules! forward_snapshot {
    () => {
        $crate::forward! { read
            load(footprint: &::punch_core::Footprint, into: &mut ::punch_core::Plan) -> () = load::load;
            events(since: u64, limit: usize) -> Vec<::punch_core::Event> = events::since;
            events_of(revision: u64) -> Vec<::punch_core::Event> = events::of;
            baseline() -> ::punch_core::Plan = events::baseline;
            usage(of: Option<::punch_core::Uid>) -> Vec<$crate::AttemptUsage> = ledger::usage;
            ledger(run: u64) -> Vec<$crate::LedgerEntry> = ledger::entries;
            spent_on(todo: ::punch_core::Uid) -> Vec<$crate::LedgerEntry> = ledger::of_todo;
            spending(skip: usize, limit: usize) -> Vec<$crate::LedgerEntry> = ledger::all;
            runs(limit: usize) -> Vec<$crate::StoredRun> = ledger::runs;
            run(id: u64) -> Option<$crate::StoredRun> = ledger::one;
            activity(since: u64, limit: usize) -> Vec<$crate::Activity> = activity::since;
            activity_of(todo: ::punch_core::Uid, limit: usize) -> Vec<$crate::Activity> = activity::of;
            activity_span() -> $crate::ActivitySpan = activity::span;
            questions(which: $crate::QuestionFilter, limit: usize) -> Vec<$crate::Question> = question::list;
            question(id: u64) -> Option<$crate::Question> = question::one;
            run_controls(run: u64) -> Vec<$crate::ControlRecord> = control::of_run;
            run_lease() -> Option<$crate::RunLease> = control::lease;
            seats(run: u64) -> Vec<$crate::SeatRecord> = control::seats;
            batches() -> Vec<$crate::HandOut> = hand_out::batches;
            offers() -> Vec<::punch_core::drive::TodoOffer> = hand_out::offers;
            mirrored() -> Vec<::punch_core::Uid> = hand_out::mirrored;
            completed_files(todo: ::punch_core::Uid) -> Option<$crate::CompletedFiles> = hand_out::completed_files;
            read_marker(reader: &str) -> Option<$crate::ReadMarker> = reader::one;
            read_markers() -> Vec<$crate::ReadMarker> = reader::all;
        }
    };
}

/// Methods of [`crate::Tx`] that the modules of a backend answer.
#[macro_export]
macro_rules! forward_tx {
    () => {
        $crate::forward! { write
            spend(spent: &$crate::LedgerEntry) -> () = ledger::append;
            put_activity(activity: &$crate::Activity) -> u64 = activity::append;
            put_question(question: &$crate::Question) -> u64 = question::append;
            take_answer(id: u64, now: i64) -> bool = question::take;
            put_control(control: &$crate::ControlRecord) -> () = control::put;
            put_seat(seat: &$crate::SeatRecord) -> () = control::put_seat;
            take_run(holder: &str, lease_ms: i64, now: i64) -> $crate::RunGrant = control::take;
            renew_run(epoch: u64, lease_ms: i64, now: i64) -> bool = control::renew;
            release_run(epoch: u64) -> bool = control::release;
            put_read_marker(marker: &$crate::ReadMarker) -> () = reader::put;
            put_batch(batch: &$crate::HandOut) -> () = hand_out::put_batch;
            forget_batch(owner: &str) -> () = hand_out::forget_batch;
            put_offer(offer: &::punch_core::drive::TodoOffer) -> () = hand_out::put_offer;
            forget_offer(owner: &str) -> () = hand_out::forget_offer;
            put_mirrored(todos: &[::punch_core::Uid]) -> () = hand_out::put_mirrored;
            put_completed_files(files: &$crate::CompletedFiles) -> () = hand_out::put_completed_files;
            put_expected_call(call: &$crate::ExpectedCall) -> () = hand_out::put_expected_call;
            forget_expected_call(call: &$crate::ExpectedCall) -> () = hand_out::forget_expected_call;
            put_worker(worker: &$crate::WorkerRecord) -> bool = worker::put;
            prune(before: u64, export: &mut dyn ::std::io::Write) -> u64 = events::prune;
        }

        fn answer_question(
            &mut self,
            id: u64,
            answer: &$crate::QuestionAnswer,
        ) -> Result<$crate::QuestionOutcome, $crate::StoreError> {
            question::settle(self, id, &$crate::QuestionState::Answered(answer.clone()))
        }

        fn close_question(
            &mut self,
            id: u64,
            reason: &str,
            now: i64,
        ) -> Result<$crate::QuestionOutcome, $crate::StoreError> {
            question::settle(self, id, &$crate::QuestionState::Closed { reason: reason.to_owned(), at: now })
        }

        fn put_run(&mut self, run: &$crate::StoredRun) -> Result<(), $crate::StoreError> {
            ledger::put(self, run)?;
            if run.ended_at.is_some() { control::clear(self, run.id) } else { Ok(()) }
        }
    };
}
