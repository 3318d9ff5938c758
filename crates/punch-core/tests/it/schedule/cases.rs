//! Cases that were thought of, and what the orders gain over seeded plans.

use punch_core::Status;
use punch_core::schedule::{Schedule, ScheduleOrder, ScheduleRequest, schedule, startable};
use punch_testkit::work;

use super::check::sound;
use super::scene::{NOW, Task, of_pieces, plan};

fn task(tokens: u64, deps: &[usize]) -> Task {
    Task { tokens, priority: 3, deps: deps.to_vec(), files: vec![], status: Status::Pending, held: false }
}

fn made(tasks: &[Task], ask: ScheduleRequest) -> Schedule {
    let made = schedule(&plan(tasks), &ask, NOW);
    sound(tasks, &ask, &made);
    made
}

fn windows(made: &Schedule) -> Vec<Vec<&str>> {
    made.windows.iter().map(|window| window.todos.iter().map(String::as_str).collect()).collect()
}

#[test]
fn nothing_to_do_is_a_schedule_too() {
    let made = made(&[], ScheduleRequest { agents: 0, ..ScheduleRequest::default() });
    assert_eq!((made.makespan, made.lower_bound, made.agents, made.windows.len()), (0, 0, 1, 0));
}

#[test]
fn tiny_windows_hold_one_oversize_todo_each() {
    let tasks = [task(5, &[]), task(0, &[]), task(7, &[0])];
    for order in ScheduleOrder::ALL {
        let made = made(&tasks, ScheduleRequest { order, context: 0, oversize: true, ..ScheduleRequest::default() });
        assert_eq!(made.oversize, ["0", "2"]);
        assert_eq!(made.windows.len(), 3);
    }
}

#[test]
fn what_is_larger_than_a_window_waits_for_confirmation_and_then_goes_last() {
    let tasks = [task(90, &[]), task(10, &[]), task(5, &[0])];
    let ask = ScheduleRequest { context: 100, ..ScheduleRequest::default() };
    let left_out = schedule(&plan(&tasks), &ask, NOW);
    assert_eq!((windows(&left_out), &left_out.oversize), (vec![vec!["1"]], &vec!["0".to_owned()]));
    let whys: Vec<&str> = left_out.blocked.iter().map(|b| b.why.as_str()).collect();
    assert_eq!(whys, ["larger than a context window: 90 of 70 tokens", "waiting for 0"]);
    let confirmed = made(&tasks, ScheduleRequest { oversize: true, ..ask });
    assert_eq!(windows(&confirmed), [vec!["1"], vec!["0"], vec!["2"]]);
    let (plan, ask) = (plan(&tasks), ScheduleRequest { oversize: true, ..ask });
    assert_eq!(
        startable(&plan, &ask, &[], NOW).first(),
        plan.by_id("1").map(|t| t.uid).as_ref(),
        "a run begins with it"
    );
}

#[test]
fn what_takes_no_time_lets_the_urgent_go_before_others_are_begun() {
    let mut tasks = vec![task(0, &[]), task(10, &[]), task(10, &[0]), task(10, &[0])];
    (tasks[0].priority, tasks[1].priority, tasks[2].priority, tasks[3].priority) = (1, 2, 1, 1);
    let made = made(&tasks, ScheduleRequest { agents: 2, ..ScheduleRequest::default() });
    assert_eq!(windows(&made), [vec!["0", "2", "1"], vec!["3"]]);
}

#[test]
fn thousands_of_todos_about_one_file_take_turns() {
    let mut tasks: Vec<Task> = (0..3_000).map(|n| task(1 + n % 7, &[])).collect();
    for (at, task) in tasks.iter_mut().enumerate() {
        task.files = if at % 10 == 0 { vec!["src/*"] } else { vec!["src/a.rs"] };
    }
    for order in ScheduleOrder::ALL {
        let made = schedule(
            &plan(&tasks),
            &ScheduleRequest { order, agents: 300, context: 30, ..ScheduleRequest::default() },
            NOW,
        );
        assert_eq!(made.makespan, tasks.iter().map(|task| task.tokens).sum::<u64>());
    }
}

#[test]
fn enormous_estimates_and_many_agents_end() {
    let mut tasks: Vec<Task> = (0..300).map(|_| task(1_000_000_000_000_000, &[])).collect();
    tasks.push(task(u64::MAX / 2, &[0]));
    for order in ScheduleOrder::ALL {
        let made = schedule(
            &plan(&tasks),
            &ScheduleRequest { order, agents: 500, oversize: true, ..ScheduleRequest::default() },
            NOW,
        );
        assert_eq!(made.oversize.len(), 301);
        assert!(made.makespan >= made.lower_bound);
    }
}

#[test]
fn a_todo_that_gates_an_urgent_one_is_urgent() {
    let mut tasks = vec![task(10, &[]), task(10, &[]), task(10, &[1])];
    tasks[0].priority = 2;
    tasks[1].priority = 5;
    tasks[2].priority = 1;
    assert_eq!(windows(&made(&tasks, ScheduleRequest::default())), [["1", "2", "0"]]);
}

#[test]
fn optional_work_comes_last_or_not_at_all() {
    let mut tasks = vec![task(10, &[]), task(60, &[]), task(40, &[])];
    tasks[0].priority = 5;
    let ask = ScheduleRequest { context: 100, ..ScheduleRequest::default() };
    assert_eq!(windows(&made(&tasks, ask)), [vec!["1"], vec!["2", "0"]]);
    let skipped = made(&tasks, ScheduleRequest { skip_optional: true, ..ask });
    assert_eq!(windows(&skipped), [["1"], ["2"]]);
    assert_eq!(skipped.blocked[0].why, "optional");
}

#[test]
fn what_cannot_be_worked_on_says_why() {
    let mut tasks = vec![task(1, &[]), task(1, &[0]), task(1, &[1]), task(1, &[]), task(1, &[3])];
    tasks[0].held = true;
    tasks[3].status = Status::Cancelled;
    let made = made(&tasks, ScheduleRequest::default());
    let whys: Vec<(&str, &str)> = made.blocked.iter().map(|b| (b.id.as_str(), b.why.as_str())).collect();
    assert_eq!(
        whys,
        [
            ("0", "on hold: ask"),
            ("1", "waiting for 0"),
            ("2", "waiting for 1"),
            ("4", "stuck behind 3, which is cancelled")
        ]
    );
}

/// Means over seeded plans: list scheduling as a part of level scheduling, and of the lower bound.
fn compared(agents: u32, measure: impl Fn(&Schedule) -> u64) -> (f64, f64) {
    let plans = 200;
    let (mut level, mut bound) = (0.0, 0.0);
    for seed in 0..plans {
        let tasks = of_pieces(&work::seeded(seed));
        let plan = plan(&tasks);
        let run = |order| schedule(&plan, &ScheduleRequest { order, agents, ..ScheduleRequest::default() }, NOW);
        let made = run(ScheduleOrder::List);
        level += measure(&made) as f64 / measure(&run(ScheduleOrder::Level)) as f64;
        bound += measure(&made) as f64 / made.lower_bound as f64;
    }
    (level / plans as f64, bound / plans as f64)
}

#[test]
fn list_scheduling_beats_barriers() {
    let (level, bound) = compared(4, |made| made.makespan);
    assert!(level <= 0.82, "{level}");
    assert!(bound <= 1.08, "{bound}");
    let (windows, _) = compared(1, |made| made.windows.len() as u64);
    assert!(windows <= 0.87, "{windows}");
}
