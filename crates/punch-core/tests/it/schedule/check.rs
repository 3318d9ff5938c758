//! The invariants of a schedule, checked from outside: each todo once, never before its dependencies, windows within
//! the budget, no overlapping files at once, nobody idle beside work, nothing less urgent first.

use proptest::prelude::*;
use punch_core::Status;
use punch_core::files::overlap;
use punch_core::schedule::{Schedule, ScheduleOrder, ScheduleRequest, Slot, budget, schedule};

use super::scene::{NOW, Task, asks, effective, plan, tasks, workable};

/// A slot with the number of its todo.
struct Run<'a> {
    todo: usize,
    slot: &'a Slot,
}

fn runs(made: &Schedule) -> Vec<Run<'_>> {
    made.slots.iter().map(|slot| Run { todo: slot.todo.parse().unwrap(), slot }).collect()
}

/// What holds under every order.
pub fn sound(tasks: &[Task], ask: &ScheduleRequest, made: &Schedule) {
    let runs = runs(made);
    let mut ended = vec![None; tasks.len()];
    for run in &runs {
        assert_eq!(ended[run.todo].replace(run.slot.end), None, "todo {} has two slots", run.todo);
        assert_eq!(run.slot.end - run.slot.start, tasks[run.todo].tokens);
        assert!((1..=ask.agents).contains(&run.slot.agent));
    }
    let workable = workable(tasks, ask.skip_optional);
    let scheduled: Vec<bool> = ended.iter().map(Option::is_some).collect();
    assert_eq!(scheduled, workable);
    let open: Vec<usize> = (0..tasks.len()).filter(|at| tasks[*at].is_open() && !workable[*at]).collect();
    let blocked: Vec<usize> = made.blocked.iter().map(|blocked| blocked.id.parse().unwrap()).collect();
    assert_eq!(blocked, open);
    for run in &runs {
        for dep in tasks[run.todo].deps.iter().filter(|dep| tasks[**dep].is_open()) {
            assert!(ended[*dep].unwrap() <= run.slot.start, "{} starts before {dep} ends", run.todo);
        }
    }
    for (at, a) in runs.iter().enumerate() {
        for b in &runs[at + 1..] {
            let at_once = a.slot.start < b.slot.end && b.slot.start < a.slot.end;
            assert!(!at_once || a.slot.agent != b.slot.agent, "two at once on one agent");
            assert!(!at_once || !clash(&tasks[a.todo], &tasks[b.todo]), "{} and {} share files", a.todo, b.todo);
        }
    }
    windows(tasks, ask, made, &runs);
    assert_eq!(made.makespan, runs.iter().map(|run| run.slot.end).max().unwrap_or(0));
    assert!(made.lower_bound <= made.makespan);
}

fn clash(a: &Task, b: &Task) -> bool {
    a.files.iter().any(|a| b.files.iter().any(|b| overlap(a, b)))
}

fn windows(tasks: &[Task], ask: &ScheduleRequest, made: &Schedule, runs: &[Run<'_>]) {
    let budget = budget(ask.context);
    assert_eq!(made.budget, budget);
    let mut of_agent = vec![0; ask.agents as usize];
    for window in &made.windows {
        of_agent[window.agent as usize - 1] += 1;
        assert_eq!(window.window, of_agent[window.agent as usize - 1], "windows are numbered from 1");
        let own: Vec<&Run<'_>> =
            runs.iter().filter(|r| r.slot.agent == window.agent && r.slot.window == window.window).collect();
        let ids: Vec<&str> = own.iter().map(|run| run.slot.todo.as_str()).collect();
        assert_eq!(ids, window.todos);
        assert!(!ids.is_empty());
        let sum: u64 = own.iter().map(|run| tasks[run.todo].tokens).sum();
        assert_eq!(sum, window.estimated_tokens);
        assert!(sum <= budget || own.len() == 1, "a window beyond its budget");
        let last = made.windows.iter().filter(|w| w.agent == window.agent).count() as u32 == window.window;
        let saved = made.checkpoints.iter().find(|c| c.agent == window.agent && c.window == window.window);
        assert_eq!(saved.map(|saved| &saved.after), window.todos.last().filter(|_| !last));
    }
    assert_eq!(made.checkpoints.len() + of_agent.iter().filter(|n| **n > 0).count(), made.windows.len());
    let large: Vec<&str> =
        runs.iter().filter(|run| tasks[run.todo].tokens > budget).map(|run| run.slot.todo.as_str()).collect();
    let mut oversize: Vec<&str> = made.oversize.iter().map(String::as_str).collect();
    oversize.sort_by_key(|id| large.iter().position(|large| large == id));
    assert_eq!(oversize, large);
}

/// What holds under list scheduling: no waiting beside work, and urgency.
fn busy(tasks: &[Task], ask: &ScheduleRequest, made: &Schedule) {
    let runs = runs(made);
    let effective = effective(tasks);
    let budget = budget(ask.context);
    let end = |todo: usize| runs.iter().find(|run| run.todo == todo).map(|run| run.slot.end);
    let ready = |todo: usize, time: u64| {
        tasks[todo].deps.iter().filter(|dep| tasks[**dep].is_open()).all(|dep| end(*dep).is_some_and(|end| end <= time))
    };
    for (place, run) in runs.iter().enumerate() {
        let time = run.slot.start;
        let before = &runs[..place];
        let going = |other: &&Run<'_>| other.slot.start <= time && time < other.slot.end;
        let in_the_way = |todo: usize| before.iter().filter(going).any(|o| clash(&tasks[o.todo], &tasks[todo]));
        let beside = |o: &&Run<'_>| o.slot.agent == run.slot.agent && o.slot.window == run.slot.window;
        let new = !before.iter().any(|o| beside(&o));
        let used: u64 = before.iter().filter(beside).map(|o| tasks[o.todo].tokens).sum();
        for other in &runs[place + 1..] {
            if !ready(other.todo, time) || in_the_way(other.todo) {
                continue;
            }
            // It was given out later although it could have been now: nothing more urgent that fitted.
            let fits = new || tasks[other.todo].tokens <= budget.saturating_sub(used) && used <= budget;
            let begun = tasks[run.todo].status == Status::InProgress;
            // What is larger than a window goes last.
            let oversize = |todo: usize| tasks[todo].tokens > budget;
            let last = oversize(other.todo) && !oversize(run.todo);
            let urgent = effective[other.todo] < effective[run.todo] && !last;
            assert!(!(fits && urgent && !begun), "{} before the more urgent {}", run.todo, other.todo);
            let others_begun = tasks[other.todo].status == Status::InProgress;
            let optional_first = effective[run.todo] == 5 && effective[other.todo] < 5 && !last;
            assert!(!optional_first || begun || others_begun, "the optional {} before {}", run.todo, other.todo);
            // And it waited for an agent, not beside an idle one.
            let busy: Vec<&Run<'_>> = runs.iter().filter(going).collect();
            let kept_apart = busy.iter().any(|o| clash(&tasks[o.todo], &tasks[other.todo]));
            if other.slot.start > time && !kept_apart {
                let busy = busy.len();
                assert_eq!(busy, ask.agents as usize, "idle at {time} while {} is ready", other.todo);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_order_keeps_the_rules(tasks in tasks(), ask in asks()) {
        let plan = plan(&tasks);
        for order in ScheduleOrder::ALL {
            let ask = ScheduleRequest { order, ..ask };
            sound(&tasks, &ask, &schedule(&plan, &ask, NOW));
        }
    }

    #[test]
    fn list_scheduling_never_waits_and_never_puts_the_urgent_behind(tasks in tasks(), ask in asks()) {
        let made = schedule(&plan(&tasks), &ask, NOW);
        busy(&tasks, &ask, &made);
    }
}
