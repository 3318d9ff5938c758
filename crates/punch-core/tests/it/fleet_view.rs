//! The fleet as a list, in numbers and as warnings.

use insta::assert_snapshot;
use punch_core::view::{FleetClaim, FleetView, FleetWorker, Plain, WorkerState};

const NOW: i64 = 100 * 60 * 60 * 1000;
const MINUTE: i64 = 60_000;

fn text(raw: &str) -> Plain {
    Plain::text(raw)
}

fn claim(worker: &str, todo: &str, reported: bool) -> FleetClaim {
    let since = Some(NOW - 5 * MINUTE);
    FleetClaim { plan: text("main"), todo: text(todo), worker: text(worker), since, reported, ..FleetClaim::default() }
}

fn worker(name: &str, host: &str, state: WorkerState, claims: Vec<FleetClaim>) -> FleetWorker {
    FleetWorker {
        name: text(name),
        host: text(host),
        state,
        seen_at: NOW - 2 * MINUTE,
        seats: 2,
        claims,
        handed_in: 3,
        per_hour: 6,
        ..FleetWorker::default()
    }
}

/// Two machines, four workers, work in progress and handed in, and a claim of a worker that has left.
fn fleet() -> FleetView {
    let busy = vec![claim("a", "T-1", false), claim("a", "T-2", true)];
    let labels = vec![text("gpu"), text("linux")];
    FleetView {
        workers: vec![
            FleetWorker { labels, coordinates: vec![text("main")], ..worker("a", "lab", WorkerState::Working, busy) },
            worker("b", "lab", WorkerState::Draining, Vec::new()),
            FleetWorker { seats: 1, handed_in: 1, ..worker("c", "attic", WorkerState::Lost, Vec::new()) },
            worker("d", "attic", WorkerState::Gone, Vec::new()),
        ],
        stuck: vec![claim("d", "T-3", false)],
    }
}

#[test]
fn the_list_names_every_worker_and_what_is_stuck() {
    assert_snapshot!(fleet().lines(NOW).join("\n"), @"
    a on lab: working, seen 2 minutes ago, 2 seats, labels gpu linux, 3 todos handed in (6 per hour), coordinates main
        T-1 of plan main: in progress, started 5 minutes ago
        T-2 of plan main: handed in, waiting for its check, started 5 minutes ago
    b on lab: draining, seen 2 minutes ago, 2 seats, 3 todos handed in (6 per hour)
    c on attic: lost, seen 2 minutes ago, 1 seat, 1 todo handed in (6 per hour)
    d on attic: gone, seen 2 minutes ago, 2 seats, 3 todos handed in (6 per hour)
    stuck: T-3 of plan main is claimed by d, which is gone; the coordinator reopens it
    ");
    assert_eq!(FleetView::default().lines(NOW), ["No workers yet: `punch worker --agent claude` starts one."]);
}

#[test]
fn only_workers_that_are_alive_have_seats() {
    let figures = fleet().figures();
    let counts = WorkerState::ALL.map(|state| figures.workers(state));
    assert_eq!((counts, figures.seats, figures.busy), ([1, 1, 1, 1], 4, 1), "work that was handed in needs no seat");
    assert_eq!((figures.stuck, figures.per_hour), (1, 12));
}

#[test]
fn workers_that_have_left_are_on_no_machine() {
    let fleet = fleet();
    let hosts = fleet.hosts();
    let names = |host: &str| hosts[&text(host)].iter().map(|worker| worker.name.to_string()).collect::<Vec<_>>();
    assert_eq!((names("lab"), names("attic")), (vec!["a".into(), "b".into()], vec!["c".to_owned()]));
}

#[test]
fn warnings_are_few_and_end_after_a_day() {
    let mut view = fleet();
    assert_snapshot!(view.warnings(NOW).join("\n"), @"
    worker c on attic is lost, last seen 2 minutes ago
    T-3 of plan main is stuck: its worker d is gone
    ");
    assert_eq!(
        view.warnings(NOW + 24 * 60 * MINUTE).len(),
        1,
        "what is stuck stays, a machine that never comes back goes"
    );
    view.workers = (0..50).map(|n| worker(&format!("w{n}"), "lab", WorkerState::Lost, Vec::new())).collect();
    view.stuck = vec![claim("d", "T-3", false); 5];
    let warnings = view.warnings(NOW);
    assert_eq!((warnings.len(), warnings[3].as_str()), (8, "47 more lost workers: `punch worker list`"));
    assert_eq!(warnings[7], "2 more stuck claims: `punch worker list`");
}

#[test]
fn the_record_is_as_described() {
    let record = fleet().record();
    let described: Vec<&str> = punch_core::schema::fleet().into_iter().map(|(name, _)| name).collect();
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&record), described);
    let schema = punch_core::schema::fleet();
    let same = |given: &serde_json::Value, schema: &serde_json::Value| {
        let (mut given, mut known) = (keys(given), keys(&schema["properties"]));
        given.sort();
        known.sort();
        assert_eq!(given, known);
    };
    same(&record["workers"][0], &schema[0].1["items"]);
    same(&record["stuck"][0], &schema[1].1["items"]);
    same(&record["figures"], &schema[2].1);
}
