//! What plans in PostgreSQL cost, beside pgbench on the same server in the same minute: medians of alternating pairs. One
//! transaction completes a todo and claims the next best one. Only ratios mean something on a busy machine. After that, what a
//! plan of a million todos costs beside a small one, and how soon listeners and followers hear of a change. Arguments choose
//! parts: `many`, `one`, `large`, `listeners`, `followers`.
#![expect(clippy::print_stdout, reason = "this is what it is for")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot get at its server has failed")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use punch_core::{
    Actor, Add, ApplyStop, Context, Edit, Footprint, InProgressLimit, Keep, Op, Plan, Policy, Ref, apply,
};
use punch_store::{Ahead, Durability, OpenMode, PlanId, Store, StoreError, Tx};
use punch_store_pg::{PgOptions, PgStore};
use punch_testkit::goals::{Goal, Goals};
use punch_testkit::postgres::{Cluster, Disk};
use punch_testkit::postgres_pooler::Pooler;

/// How long each run takes.
const LENGTH: Duration = Duration::from_secs(4);

/// Turns of each client that are not counted: a session names its statements at their third use.
const WARM_UP: usize = 4;

/// The longest time that clients have for them. One that ended with an error would never be ready.
const WARM_UP_LIMIT: Duration = Duration::from_secs(60);

/// How often each pair is run.
const PAIRS: usize = 3;

fn main() -> ExitCode {
    let mut goals = Goals::default();
    measure(&mut goals);
    match goals.end() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn measure(goals: &mut Goals) {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let wants = |part: &str| chosen.is_empty() || chosen.iter().any(|name| name == part);
    // Each of the listeners has two connections: one that hears, and one for its questions.
    let connections = |_: &std::path::Path| Ok("max_connections = 300\n".to_owned());
    let cluster = match Cluster::start_with(Disk::Durable, connections) {
        Ok(cluster) => cluster,
        Err(error) => {
            goals.skip("everything", &error.to_string());
            return println!("SKIPPED: {error}");
        }
    };
    println!("{:<32}{:>12}{:>12}{:>8}{:>8}", "", "punch tx/s", "pgbench", "ratio", "goal");
    for (name, clients, plans, database, script, goal) in [
        ("many plans, 8 clients", 8, 64, "many", "simple-update", 0.6),
        ("many plans, 16 clients", 16, 64, "many", "simple-update", 0.6),
        ("one plan, 1 client", 1, 1, "one", "tpcb-like", 0.5),
        ("one plan, 16 clients", 16, 1, "one", "tpcb-like", 0.45),
        ("one plan, 64 clients", 64, 1, "one", "tpcb-like", 0.45),
    ] {
        if !wants(database) {
            continue;
        }
        prepare(&cluster, database, if plans == 1 { "1" } else { "64" });
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for pair in 0..PAIRS {
            ours.push(fleet(&cluster, &format!("{name} {pair}"), clients, plans));
            let count = clients.to_string();
            let seconds = LENGTH.as_secs().to_string();
            let run = ["-n", "-M", "prepared", "-b", script, "-c", &count, "-j", "2", "-T", &seconds, database];
            theirs.push(rate(&pgbench(&cluster, &run)));
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let ratio = ours / theirs;
        let verdict = goals.judge(name, ratio, Goal::AtLeast(goal));
        println!("{name:<32}{ours:>12.0}{theirs:>12.0}{ratio:>8.2}{goal:>8.2}  {verdict}");
    }
    if wants("large") {
        large(&cluster, goals);
    }
    if wants("listeners") {
        listeners(&cluster, goals);
    }
    if wants("followers") {
        followers(&cluster, goals);
    }
}

/// Fills the tables of pgbench, once.
fn prepare(cluster: &Cluster, database: &str, scale: &str) {
    if cluster.sql("postgres", &format!("CREATE DATABASE {database}")).is_ok() {
        pgbench(cluster, &["-i", "-q", "-s", scale, database]);
    }
}

/// Todos of the large plan.
const LARGE: usize = 1_000_000;

/// Transactions of one measurement of it.
const TURNS: usize = 150;

/// One client on a plan of a million todos and on one of a thousand, by turns.
fn large(cluster: &Cluster, goals: &mut Goals) {
    let store = open(cluster, "large");
    let plan = store.create_plan("large", 1).unwrap();
    for chunk in 0..LARGE / 50_000 {
        add(&store, plan, chunk * 50_000..(chunk + 1) * 50_000);
    }
    cluster.sql("postgres", "VACUUM ANALYZE").unwrap();
    let small: Vec<PlanId> = (0..=PAIRS).map(|n| fill(&store, &format!("small-{n}"), 1_000)).collect();
    let time = |plan: PlanId| {
        let mut held = turn(&store, plan, "one", None);
        let begun = Instant::now();
        for _ in 0..TURNS {
            held = turn(&store, plan, "one", held.take());
        }
        let each = begun.elapsed().as_secs_f64() * 1_000.0 / TURNS as f64;
        turn(&store, plan, "one", held);
        each
    };
    time(plan);
    time(small[0]);
    let (mut large, mut few) = (Vec::new(), Vec::new());
    for small in &small[1..] {
        large.push(time(plan));
        few.push(time(*small));
    }
    let (large, few) = (median(large), median(few));
    let (name, ratio, goal) = ("1,000,000 todos, beside 1,000", large / few, 1.2);
    let verdict = goals.judge(name, ratio, Goal::AtMost(goal));
    println!("{name:<32}{large:>9.2} ms{few:>9.2} ms{ratio:>8.2}{goal:>8.2}  {verdict}");
}

/// How many wait for a change.
const LISTENERS: usize = 100;

/// The time from a commit until every one of many listeners, each with a connection of its own, was woken.
fn listeners(cluster: &Cluster, goals: &mut Goals) {
    let writer = open(cluster, "listeners");
    let plan = fill(&writer, "main", 400);
    let (heard, ears) = std::sync::mpsc::channel();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..LISTENERS {
            let (heard, stop) = (heard.clone(), &stop);
            scope.spawn(move || {
                let store = open(cluster, "listeners");
                let mut changes = store.changes();
                while !stop.load(Ordering::Relaxed) {
                    if changes.wait(Duration::from_millis(300)).unwrap() {
                        let _ = heard.send(Instant::now());
                    }
                }
            });
        }
        // Until all of them listen.
        thread::sleep(Duration::from_secs(5));
        while ears.try_recv().is_ok() {}
        let (mut last, mut held) = (Vec::new(), None);
        for _ in 0..30 {
            held = turn(&writer, plan, "w", held);
            let committed = Instant::now();
            let times: Vec<Instant> =
                (0..LISTENERS).filter_map(|_| ears.recv_timeout(Duration::from_secs(3)).ok()).collect();
            if let (LISTENERS, Some(end)) = (times.len(), times.iter().max()) {
                last.push(end.saturating_duration_since(committed).as_secs_f64() * 1_000.0);
            }
            // Writes in quick succession share a notification; this is about single ones.
            thread::sleep(Duration::from_millis(150));
            while ears.try_recv().is_ok() {}
        }
        stop.store(true, Ordering::Relaxed);
        let (name, seen) = ("last of 100 listeners", format!("{} of 30", last.len()));
        let late = if last.is_empty() { f64::NAN } else { median(last) };
        let verdict = goals.judge(name, late, Goal::AtMost(10.0));
        println!("{name:<32}{late:>9.2} ms{seen:>12}{:>8}{:>8}  {verdict}", "", "10 ms");
    });
}

/// The time from a commit of one process until a follower in another one knows, with notifications and, behind a pooler that
/// does not pass them on, without.
fn followers(cluster: &Cluster, goals: &mut Goals) {
    let mut row = |name: &str, follower: &PgStore, goal: f64| {
        let writer = open(cluster, "followers");
        let plan = fill(&writer, name, 400);
        let mut changes = follower.changes();
        while changes.wait(Duration::from_secs(1)).unwrap() {}
        let (mut times, mut held) = (Vec::new(), None);
        for n in 0..FOLLOWED {
            // At any time between two looks.
            thread::sleep(Duration::from_millis(50 + 37 * n));
            held = turn(&writer, plan, "w", held);
            let committed = Instant::now();
            if changes.wait(Duration::from_secs(5)).unwrap() {
                times.push(committed.elapsed().as_secs_f64() * 1_000.0);
            }
            while changes.wait(Duration::from_millis(100)).unwrap() {}
        }
        let worst = times.iter().copied().fold(0.0, f64::max);
        let seen = format!("{} of {FOLLOWED}", times.len());
        let verdict = goals.judge(name, if times.is_empty() { f64::NAN } else { worst }, Goal::AtMost(goal));
        println!("{name:<32}{worst:>9.2} ms{seen:>12}{:>8}{:>8}  {verdict}", "", format!("{goal} ms"));
    };
    row("follower, LISTEN, worst", &open(cluster, "followers"), 300.0);
    match Pooler::start(cluster) {
        Ok(pooler) => {
            let (server, pooled) = (cluster.socket_folder().display(), pooler.socket_folder().display());
            let address = cluster.address("postgres").replace(&server.to_string(), &pooled.to_string());
            row("follower, polling, worst", &open_at(address, "followers"), 1_000.0);
        }
        Err(error) => {
            let name = "follower, polling, worst";
            goals.skip(name, &error.to_string());
            println!("{name:<32}SKIPPED: {error}");
        }
    }
}

/// How many changes a follower waits for.
const FOLLOWED: u64 = 15;

fn open(cluster: &Cluster, project: &str) -> PgStore {
    open_at(cluster.address("postgres"), project)
}

fn open_at(address: String, project: &str) -> PgStore {
    let options = PgOptions { address, project: project.to_owned(), ..PgOptions::default() };
    PgStore::open(options, OpenMode::Create).unwrap()
}

fn pgbench(cluster: &Cluster, arguments: &[&str]) -> String {
    let folder = cluster.socket_folder().display().to_string();
    cluster.run("pgbench", &[&["-h", &folder, "-U", "punch"], arguments].concat()).unwrap()
}

fn rate(printed: &str) -> f64 {
    let line = printed.lines().find_map(|line| line.strip_prefix("tps = ")).unwrap();
    line.split(' ').next().unwrap().parse().unwrap()
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// Transactions per second of some clients on some plans.
fn fleet(cluster: &Cluster, project: &str, clients: usize, plans: usize) -> f64 {
    let open = || open(cluster, project);
    let store = open();
    let each = if plans == 1 { 30_000 } else { 1_000 };
    let plans: Vec<PlanId> = (0..plans).map(|n| fill(&store, &format!("plan-{n}"), each)).collect();
    let (done, warm, stop) = (AtomicU64::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for client in 0..clients {
            let (done, warm, stop, plan, open) = (&done, &warm, &stop, plans[client % plans.len()], &open);
            scope.spawn(move || {
                let (store, owner) = (open(), format!("c{client}"));
                let mut held = None;
                for _ in 0..WARM_UP {
                    held = turn(&store, plan, &owner, held);
                }
                warm.fetch_add(1, Ordering::Relaxed);
                while !stop.load(Ordering::Relaxed) {
                    held = turn(&store, plan, &owner, held);
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        // Connections and the planning of statements are not counted. pgbench connects before it counts, too.
        let begun = Instant::now();
        while warm.load(Ordering::Relaxed) < clients && begun.elapsed() < WARM_UP_LIMIT {
            thread::sleep(Duration::from_millis(10));
        }
        let (before, begun) = (done.load(Ordering::Relaxed), Instant::now());
        thread::sleep(LENGTH);
        let rate = (done.load(Ordering::Relaxed) - before) as f64 / begun.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        rate
    })
}

/// A plan in which every todo has three dependents further on.
fn fill(store: &PgStore, name: &str, todos: usize) -> PlanId {
    let plan = store.create_plan(name, 1).unwrap();
    add(store, plan, 0..todos);
    plan
}

fn add(store: &PgStore, plan: PlanId, numbers: std::ops::Range<usize>) {
    let needs = |n: usize| if n < 300 { vec![] } else { vec![Ref::Id(format!("n{}", n / 3))] };
    let add = |n: usize| {
        let edit = Edit {
            content: Keep::Set(format!("todo {n} with a content of ordinary length")),
            depends_on: Keep::Set(needs(n)),
            ..Edit::default()
        };
        Op::Add(Add { id: Some(format!("n{n}")), edit, ..Add::default() })
    };
    let ops: Vec<Op> = numbers.clone().map(add).collect();
    // What `apply` would ask for todo by todo: whether their ids are free.
    let mut first = Footprint::of(&ops);
    first.ids.extend(numbers.map(|n| format!("n{n}")));
    store.write(plan, Durability::Full, &mut |tx| put(tx, &ops, "setup", &first)).unwrap();
}

/// Completes what the client has and claims the next best, in one transaction.
fn turn(store: &PgStore, plan: PlanId, owner: &str, held: Option<String>) -> Option<String> {
    let done: Vec<Op> =
        held.into_iter().map(|id| Op::Done { target: Ref::Id(id), evidence: None, fence: None }).collect();
    let first = Footprint::of(&done);
    let mut next = None;
    store
        .write_ahead(
            plan,
            Durability::Full,
            Ahead { dependents: true, ready: true, ..Ahead::load(&first) },
            &mut |tx| {
                if !done.is_empty() {
                    put(tx, &done, owner, &first)?;
                }
                let now = tx.now().unwrap_or(0);
                if let Some(todo) = tx.ready(now, None, 1)?.pop() {
                    let claim = [Op::Claim(Ref::Uid(todo.uid), now + 60_000)];
                    put(tx, &claim, owner, &Footprint { todos: [todo.uid].into(), ..Footprint::default() })?;
                    next = Some(todo.id.clone());
                }
                Ok(())
            },
        )
        .unwrap();
    next
}

fn put(tx: &mut dyn Tx, ops: &[Op], owner: &str, first: &Footprint) -> Result<(), StoreError> {
    let policy = Policy { in_progress: InProgressLimit::Any, ..Policy::default() };
    let context = Context::new(tx.now().unwrap_or(0), Actor::parse(owner, Some(owner)), policy);
    let mut plan = Plan::slice(tx.row()?);
    tx.load(first, &mut plan)?;
    let mut rounds = 0;
    loop {
        rounds += 1;
        match apply(&plan, ops, &context) {
            Ok(outcome) => return tx.put(&outcome),
            // As the engine does it: a slice that grows step by step would cost more than everything.
            Err(ApplyStop::Need(need)) => tx.load(&Footprint { all: need.all || rounds > 8, ..*need }, &mut plan)?,
            Err(ApplyStop::Refused(refusals)) => {
                return Err(StoreError::Conflict { what: format!("{refusals:?}") });
            }
        }
    }
}
