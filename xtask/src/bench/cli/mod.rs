//! `cargo xtask bench cli`: what a call of `punch` costs, beside `/bin/true`, a bare program with clap and SQLite,
//! and Taskwarrior. All take turns in one run, so that whatever else the machine does hits all of them alike.

pub mod call;
mod crowd;
mod hooks;
pub mod plan;
pub mod programs;
mod rivals;
pub mod shape;
mod table;

use std::collections::BTreeMap;
use std::path::Path;

use call::{Costs, call};
use crowd::Crowd;
use hooks::HOOKS;
use plan::{BenchPlan, VERBS};
use programs::BenchPrograms;
use rivals::{Bare, Warrior};
use table::{FigureBound, ResultTable, ms};

use super::tools;
use crate::{TaskResult, process};

const SIZES: [u32; 3] = [100, 1_000, 100_000];
const COMPARED: u32 = 1_000;
const ROUNDS: u32 = 100;
/// Taskwarrior is slow, and a few calls are enough to see how slow.
const WARRIOR_EVERY: u32 = 5;
/// Small plans would run dry.
const RESET_EVERY: u32 = 25;
const IMPORTED: u32 = 10_000;
/// The plan that `punch` alone shows.
const SHOWN: u32 = 10_000;

/// Medians by name and size.
#[derive(Default)]
struct Medians(BTreeMap<(&'static str, u32), Costs>);

impl Medians {
    fn add(&mut self, name: &'static str, size: u32, cost: call::CallCost) {
        self.0.entry((name, size)).or_default().push(cost);
    }

    fn cpu(&self, name: &'static str, size: u32) -> f64 {
        self.0.get(&(name, size)).map_or(f64::NAN, Costs::cpu)
    }
}

/// Measures, prints one table, and fails if a target is missed.
pub fn run() -> TaskResult {
    // Not the system's folder for temporary files: it may be in memory, where nothing has to be made durable.
    let room = tempfile::tempdir_in(process::target()?).map_err(|cause| format!("no room: {cause}"))?;
    let room = room.path();
    let programs = BenchPrograms::build(room)?;
    let bare = Bare::make(&programs, room, COMPARED)?;
    let mut warrior = Warrior::make(room, COMPARED).inspect_err(|why| println!("NOT COMPARED: {why}")).ok();
    let mut plans = Vec::new();
    for size in SIZES {
        plans.push(BenchPlan::make(&programs, room.join(format!("plan-{size}")), size)?.0);
    }
    let shown = BenchPlan::make(&programs, room.join("shown"), SHOWN)?.0;
    let mut seen = Medians::default();
    for round in 0..ROUNDS {
        seen.add("/bin/true", 0, call(&mut call::program(Path::new("/bin/true"), room, &[]))?);
        seen.add("bare query", COMPARED, call(&mut bare.query())?);
        seen.add("bare update", COMPARED, call(&mut bare.update())?);
        seen.add("bare, linked alike", COMPARED, call(&mut bare.update_alike())?);
        for plan in &mut plans {
            if round % RESET_EVERY == 0 && plan.size <= COMPARED {
                plan.reset()?;
            }
            for verb in VERBS {
                seen.add(verb, plan.size, plan.run(verb)?);
            }
            // The session is bound by copying its list.
            for hook in HOOKS.into_iter().rev() {
                seen.add(hook, plan.size, plan.hook(hook)?);
            }
        }
        seen.add("--version", 0, call(&mut plans[0].punch(&["--version"]))?);
        seen.add("punch alone", SHOWN, call(&mut shown.punch(&[]))?);
        if let Some(warrior) = warrior.as_mut().filter(|_| round % WARRIOR_EVERY == 0) {
            for verb in VERBS {
                seen.add(warrior_name(verb), COMPARED, warrior.run(verb)?);
            }
        }
    }
    import(&programs, room, &mut seen)?;
    let crowds = crowds(&bare, &plans)?;
    report(&seen, &bare, &mut plans, warrior.is_some(), &crowds)
}

/// Measures only the hooks, among the same calls of verbs: what a session costs depends on what the user adds meanwhile.
pub fn hooks() -> TaskResult {
    let room = tempfile::tempdir_in(process::target()?).map_err(|cause| format!("no room: {cause}"))?;
    let room = room.path();
    let programs = BenchPrograms::build(room)?;
    let bare = Bare::make(&programs, room, COMPARED)?;
    let mut seen = Medians::default();
    for size in SIZES {
        let mut plan = BenchPlan::make(&programs, room.join(format!("plan-{size}")), size)?.0;
        for round in 0..ROUNDS {
            seen.add("bare update", COMPARED, call(&mut bare.update())?);
            seen.add("--version", 0, call(&mut plan.punch(&["--version"]))?);
            if round % RESET_EVERY == 0 && size <= COMPARED {
                plan.reset()?;
            }
            for verb in VERBS {
                plan.run(verb)?;
            }
            for hook in HOOKS.into_iter().rev() {
                seen.add(hook, size, plan.hook(hook)?);
            }
        }
    }
    let mut table = ResultTable::begin();
    judge_hooks(&seen, &mut table);
    table.end()
}

fn judge_hooks(seen: &Medians, table: &mut ResultTable) {
    for hook in HOOKS {
        let (base, size, most) =
            if hook == "hook PreToolUse" { ("--version", 0, 3.0) } else { ("bare update", COMPARED, 1.5) };
        for at in SIZES {
            let cost = seen.cpu(hook, at);
            table.judge(
                (hook, at, &ms(cost)),
                &format!("x {base}"),
                cost / seen.cpu(base, size),
                FigureBound::AtMost(most),
            );
        }
    }
}

fn import(programs: &BenchPrograms, room: &Path, seen: &mut Medians) -> TaskResult {
    for n in 0..3 {
        seen.add("import", IMPORTED, BenchPlan::make(programs, room.join(format!("import-{n}")), IMPORTED)?.1);
    }
    Ok(())
}

/// Ours and the bare program's, in turns.
fn crowds(bare: &Bare<'_>, plans: &[BenchPlan<'_>]) -> Result<[Crowd; 2], String> {
    let Some(plan) = plans.iter().find(|plan| plan.size == COMPARED) else { return Err("no plan to crowd".into()) };
    let mut crowds = [Crowd::default(); 2];
    for _ in 0..3 {
        crowds[0].work(|| plan.punch(&["add", "Something that one of eight came across"]))?;
        crowds[1].work(|| bare.update())?;
    }
    Ok(crowds)
}

fn report(
    seen: &Medians,
    bare: &Bare<'_>,
    plans: &mut [BenchPlan<'_>],
    warrior: bool,
    crowds: &[Crowd; 2],
) -> TaskResult {
    let counting = tools::install("valgrind", "valgrind").inspect_err(|why| println!("NOT COUNTED: {why}")).is_ok();
    let count = |command: &std::process::Command| counting.then(|| tools::instructions(command)).transpose();
    let mut table = ResultTable::begin();
    table.plain("/bin/true", None, &ms(seen.cpu("/bin/true", 0)), None);
    table.plain("--version", None, &ms(seen.cpu("--version", 0)), None);
    let bares = [
        ("bare query", bare.query()),
        ("bare update", bare.update()),
        // For knowledge: what is compared with is a program as cargo builds it.
        ("bare, linked alike", bare.update_alike()),
    ];
    for (name, command) in bares {
        table.plain(name, Some(COMPARED), &ms(seen.cpu(name, COMPARED)), count(&command)?);
    }
    for verb in VERBS.iter().filter(|_| warrior) {
        let name = warrior_name(verb);
        table.plain(name, Some(COMPARED), &ms(seen.cpu(name, COMPARED)), None);
    }
    for plan in plans.iter_mut() {
        for verb in VERBS {
            table.plain(verb, Some(plan.size), &ms(seen.cpu(verb, plan.size)), count(&plan.command(verb)?)?);
        }
    }
    let alone = seen.cpu("punch alone", SHOWN);
    let version = seen.cpu("--version", 0);
    table.judge(("punch alone", SHOWN, &*ms(alone)), "x --version", alone / version, FigureBound::AtMost(4.0));
    for verb in VERBS {
        let cost = seen.cpu(verb, COMPARED);
        let row = (verb, COMPARED, &*ms(cost));
        let base = if matches!(verb, "next" | "ready" | "show") { "bare query" } else { "bare update" };
        table.judge(row, &format!("x {base}"), cost / seen.cpu(base, COMPARED), FigureBound::AtMost(2.0));
        if warrior {
            let theirs = seen.cpu(warrior_name(verb), COMPARED);
            table.judge(row, "x less than Taskwarrior", theirs / cost, FigureBound::AtLeast(15.0));
        }
    }
    for verb in VERBS {
        for size in SIZES.into_iter().skip(1) {
            let cost = seen.cpu(verb, size);
            table.judge((verb, size, &ms(cost)), "x at 100", cost / seen.cpu(verb, SIZES[0]), FigureBound::AtMost(1.5));
        }
    }
    judge_hooks(seen, &mut table);
    let cost = seen.cpu("import", IMPORTED);
    let row = ("import", IMPORTED, &*ms(cost));
    match warrior {
        true => {
            let ten = 10.0 * seen.cpu(warrior_name("add"), COMPARED);
            table.judge(row, "x 10 adds of Taskwarrior", cost / ten, FigureBound::AtMost(1.0));
        }
        false => table.plain(row.0, Some(row.1), row.2, None),
    }
    for size in SIZES {
        let resident = seen.0.get(&("next", size)).map_or(f64::NAN, Costs::resident);
        table.judge(("next, resident", size, ""), "MB", resident, FigureBound::AtMost(15.0));
    }
    let [ours, theirs] = crowds;
    let row = ("eight at once", COMPARED, &*format!("{:.0}/s", ours.pace()));
    table.judge(
        row,
        &format!("x {:.0}/s of bare", theirs.pace()),
        ours.pace() / theirs.pace(),
        FigureBound::AtLeast(0.6),
    );
    let theirs = format!("s the slowest (bare {:.2} s)", theirs.slowest.as_secs_f64());
    table.judge(row, &theirs, ours.slowest.as_secs_f64(), FigureBound::AtMost(1.0));
    table.end()
}

fn warrior_name(verb: &str) -> &'static str {
    match verb {
        "next" => "task next",
        "ready" => "task ready",
        "show" => "task info",
        "start" => "task start",
        "done" => "task done",
        "add" => "task add",
        _ => "task add depends:",
    }
}
