//! What the inbox of a large plan costs, in a plan where much has gone wrong.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use punch_core::inbox::{InboxFacts, inbox};
use punch_core::{Actor, Add, Context, Edit, Hold, HoldKind, Keep, Op, Plan, Policy, Ref, Status, apply};
use punch_testkit::work::{SplitMix, layered};

const TODOS: usize = 10_000;
const LIMIT_MS: f64 = 5.0;
const RUNS: u32 = 50;

fn main() -> ExitCode {
    let mut missed = false;
    // One in this many todos has failed, and as many are on hold.
    for rate in [1_000, 50, 5] {
        let Some(plan) = plan(rate) else { return ExitCode::FAILURE };
        let facts = InboxFacts {
            plan: &plan,
            plan_name: "main",
            plan_flag: None,
            questions: &[],
            file_conflicts: &[],
            approvals: &[],
            runs: &[],
            fleet: None,
            workers: &[],
            stopped: &[],
            unread_failures: &[],
            quiet_after: 1,
            seen: None,
            last_by_user: false,
            now: 2,
        };
        let (items, ms) = (inbox(&facts).len(), mean(|| inbox(&facts)).as_secs_f64() * 1_000.0);
        let verdict = if ms <= LIMIT_MS { "met" } else { "MISSED" };
        missed |= ms > LIMIT_MS;
        println!("inbox of {TODOS} todos, {items:>5} items {ms:>10.2} ms  at most {LIMIT_MS}: {verdict}");
    }
    if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn plan(rate: usize) -> Option<Plan> {
    let hold = || Hold { kind: HoldKind::Human, reason: "ask".into(), until: None, by: "user".into(), at: 1 };
    let pieces = layered(&mut SplitMix::new(1), TODOS);
    let add = |(n, piece): (usize, &punch_testkit::work::Piece)| {
        let edit = Edit {
            content: Keep::Set("work".to_owned()),
            depends_on: Keep::Set(piece.deps.iter().map(|dep| Ref::New(*dep)).collect()),
            ..Edit::default()
        };
        let status = if n % rate == 0 { Status::Failed } else { Status::Pending };
        Op::Add(Add { edit, status, hold: (n % rate == 1).then(hold), ..Add::default() })
    };
    let ops: Vec<Op> = pieces.iter().enumerate().map(add).collect();
    let mut plan = Plan::new();
    let outcome = apply(&plan, &ops, &Context::new(1, Actor::user(), Policy::default())).ok()?;
    plan.commit(&outcome);
    Some(plan)
}

/// The mean of many runs: the clock of CPU time may tick in milliseconds.
fn mean<T>(mut work: impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    let clock = || cpu_time().unwrap_or_else(|| start.elapsed());
    let begin = clock();
    for _ in 0..RUNS {
        black_box(work());
    }
    clock().saturating_sub(begin) / RUNS
}

/// CPU time of this thread: other work on the machine does not count.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
