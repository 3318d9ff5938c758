//! Times beside the bare server, in turns, so that a busy machine is busy for both.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::Report;
use crate::client::Client;

pub fn run(report: &mut Report, punch: &str, bare: &str) {
    one_core();
    let installed = tempfile::tempdir().unwrap();
    let (punch, bare) = (&install(&installed, punch), &install(&installed, bare));
    let folder = project();
    let path = folder.path();
    fill(punch, path, 1_000);
    let mut theirs = Client::start(bare, &["bare.db"], path);
    reads(report, punch, path, &mut theirs);
    writes(report, punch, path, &mut theirs);
    let spawn =
        turns(30, &mut |_| vec![timed(|| spawned(bare, &["bare.db"], path)), timed(|| spawned(punch, &["mcp"], path))]);
    println!("spawn to first tools/list: bare {:.0} µs", spawn[0]);
    report.row("spawn to tools/list, x bare", spawn[1] / spawn[0], 2.0, &format!("({:.0} µs)", spawn[1]));
    memory(report, punch);
}

/// Everybody on one core, ourselves and the programs that we start. Elsewhere the scheduler decides which of the two
/// servers has to be woken on a sleeping core, and that costs three times what a call costs.
fn one_core() {
    #[cfg(target_os = "linux")]
    {
        let mut set = rustix::thread::CpuSet::new();
        set.set(rustix::thread::sched_getcpu());
        if rustix::thread::sched_setaffinity(None, &set).is_ok() {
            return println!("all on one core");
        }
    }
    println!("NOT on one core: the times also say how the scheduler places programs");
}

/// A copy, as people start it: what a linker writes lies in small pieces in memory, and starting it costs more.
fn install(folder: &tempfile::TempDir, program: &str) -> String {
    let to = folder.path().join(Path::new(program).file_name().unwrap());
    std::fs::copy(program, &to).unwrap();
    to.to_str().unwrap().to_owned()
}

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    assert!(Command::new("git").args(["init", "-q"]).current_dir(folder.path()).status().unwrap().success());
    folder
}

/// A view at each turn. Numbers that the view does not look at make a question that was never asked before.
type View<'a> = (&'a str, &'a dyn Fn(usize) -> Value);

/// ReadCache that were never asked before, which is what has a target. For knowledge also the same reading again, which
/// comes from memory, and right after a write, when the machine has just been busy with a disk.
fn reads(report: &mut Report, punch: &str, path: &Path, theirs: &mut Client) {
    let mut ours = Client::start(punch, &["mcp"], path);
    let fresh: [View<'_>; 4] = [
        ("next", &|n| json!({"view": "next", "limit": n})),
        ("the first page", &|n| json!({"offset": 0, "id": n.to_string()})),
        ("a later page", &|n| json!({"offset": 100 + n % 800, "id": n.to_string()})),
        ("what is ready", &|n| json!({"view": "ready", "id": n.to_string()})),
    ];
    let same: [View<'_>; 4] = [
        ("next", &|_| json!({"view": "next"})),
        ("the first page", &|_| json!({})),
        ("a later page", &|_| json!({"offset": 200})),
        ("what is ready", &|_| json!({"view": "ready"})),
    ];
    for (when, views, count) in [("", fresh, 1_000), ("again", same, 1_000), ("after a write", same, 300)] {
        let times = turns(count, &mut |n| {
            if when == "after a write" {
                ours.call("todo_write", &flip(n));
                // What a commit leaves behind in the machine is met by both.
                theirs.call("commit", &json!({}));
            }
            let mut all = vec![timed(|| theirs.call("noop", &json!({})))];
            all.extend(views.iter().map(|(_, arguments)| {
                let arguments = arguments(n);
                timed(|| ours.call("todo_read", &arguments))
            }));
            all
        });
        println!("readings {when}: the bare server's no-op takes {:.0} µs", times[0]);
        for (n, (what, _)) in views.iter().enumerate() {
            let (ratio, note) = (times[n + 1] / times[0], format!("({:.0} µs)", times[n + 1]));
            match when {
                "" => report.row(&format!("read {what} of 1,000, x no-op"), ratio, 3.0, &note),
                _ => println!("read {what} of 1,000 {when}, x no-op: {ratio:.2} {note}"),
            }
        }
    }
}

fn flip(n: usize) -> Value {
    json!({"ops": [{"op": if n.is_multiple_of(2) { "start" } else { "reopen" }, "id": "n7"}]})
}

/// What it is called, the tool, its arguments at each turn.
type Case<'a> = (&'a str, &'a str, &'a dyn Fn(usize) -> Value);

/// A change in each dialect.
fn writes(report: &mut Report, punch: &str, path: &Path, theirs: &mut Client) {
    let mut native = Client::start(punch, &["mcp"], path);
    let dialect = |name: &str| Client::start(punch, &["mcp", "--dialect", name], path);
    let mut lists =
        [dialect("cursor"), dialect("phases"), dialect("todowrite"), dialect("todowrite"), dialect("extended")];
    let status = |n: usize| if n.is_multiple_of(2) { "in_progress" } else { "pending" };
    // Each on another todo: notes stay, and a pile of them would be measured instead.
    let note = |n: usize| json!({"ops": [{"op": "note", "id": format!("n{}", 500 + n % 500), "text": "seen"}]});
    let list = |n: usize, more: Option<String>| {
        let row = |content: &str, status: &str| json!({"content": content, "status": status, "activeForm": content});
        let mut rows: Vec<Value> =
            (0..6).map(|i| row(&format!("step {i}"), if i == 0 { status(n) } else { "pending" })).collect();
        rows.extend(more.map(|more| row(&more, "pending")));
        json!({"todos": rows})
    };
    let calls: [Case<'_>; 5] = [
        ("cursor, merge", "todo_write", &|n| json!({"merge": true, "todos": [{"id": "n30", "status": status(n)}]})),
        (
            "phases, start",
            "todo_write",
            &|n| json!({"ops": [{"op": "start", "task": format!("todo number {}", 40 + n % 2 * 10)}]}),
        ),
        ("todowrite, the list again", "TodoWrite", &|n| list(n, None)),
        ("todowrite, one more", "TodoWrite", &|n| list(n, Some(format!("found on the way {n}")))),
        ("extended, patch", "todo_write", &|n| json!({"mode": "patch", "todos": [{"id": "n60", "status": status(n)}]})),
    ];
    let times = turns(200, &mut |n| {
        let mut all = vec![
            timed(|| theirs.call("commit", &json!({}))),
            timed(|| native.call("todo_write", &flip(n))),
            timed(|| native.call("todo_write", &note(n))),
        ];
        for ((_, tool, arguments), client) in calls.iter().zip(&mut lists) {
            let arguments = arguments(n);
            all.push(timed(|| client.call(tool, &arguments)));
        }
        all
    });
    println!("the bare server's durable commit takes {:.0} µs", times[0]);
    let names = ["native, start or reopen", "native, note"].into_iter().chain(calls.iter().map(|(name, ..)| *name));
    for (name, time) in names.zip(&times[1..]) {
        report.row(&format!("write on 1,000: {name}, x commit"), time / times[0], 2.0, &format!("({time:.0} µs)"));
    }
}

/// Each part's median over all turns, in microseconds.
fn turns(count: usize, turn: &mut dyn FnMut(usize) -> Vec<f64>) -> Vec<f64> {
    (0..5).for_each(|n| drop(turn(n)));
    let mut all: Vec<Vec<f64>> = Vec::new();
    for n in 0..count {
        for (part, time) in turn(n).into_iter().enumerate() {
            if all.len() <= part {
                all.push(Vec::new());
            }
            all[part].push(time);
        }
    }
    all.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    all.iter().map(|times| times[times.len() / 2]).collect()
}

fn timed(f: impl FnOnce()) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_secs_f64() * 1e6
}

fn spawned(program: &str, arguments: &[&str], folder: &Path) {
    let tools = Client::start(program, arguments, folder).request("tools/list", json!({}));
    assert!(tools.contains("\"tools\""), "{tools}");
}

/// Todos in chains of ten. Answers the most memory it took, in MB.
fn fill(punch: &str, folder: &Path, count: usize) -> Option<f64> {
    let mut client = Client::start(punch, &["mcp"], folder);
    let add = |n: usize| -> Value {
        let before: Vec<String> = if n.is_multiple_of(10) { vec![] } else { vec![format!("n{}", n - 1)] };
        json!({"op": "add", "id": format!("n{n}"), "content": format!("todo number {n}"), "dependsOn": before})
    };
    for from in (0..count).step_by(500) {
        client.call("todo_write", &json!({"ops": (from..from + 500).map(add).collect::<Vec<_>>()}));
    }
    client.call(
        "todo_write",
        &json!({"ops": [{"op": "done", "ids": (0..7).map(|n| format!("n{n}")).collect::<Vec<_>>()}]}),
    );
    client.peak()
}

fn memory(report: &mut Report, punch: &str) {
    let folder = project();
    let path = folder.path();
    let filled = fill(punch, path, 10_000);
    let Some(filled) = filled else { return println!("memory is left out: the system does not tell it") };
    report.row("MB at most, adding 10,000 todos", filled, 20.0, "");
    let cancel = |id: &str| json!([{"id": id, "status": "cancelled"}]);
    let todos = json!([{"content": "mine", "status": "in_progress", "activeForm": "mine"}]);
    let cases = [
        ("native", "todo_write", json!({"ops": [{"op": "note", "id": "n9", "text": "seen"}]})),
        ("cursor", "todo_write", json!({"merge": true, "todos": cancel("n19")})),
        ("phases", "todo_write", json!({"ops": [{"op": "done", "task": "todo number 29"}]})),
        ("todowrite", "TodoWrite", json!({"todos": todos})),
        ("extended", "todo_write", json!({"mode": "patch", "todos": cancel("n39")})),
    ];
    for (dialect, tool, arguments) in cases {
        let mut client = Client::start(punch, &["mcp", "--dialect", dialect], path);
        for n in 0..20 {
            client.call(tool, &arguments);
            if matches!(dialect, "native" | "extended") {
                client.call("todo_read", &json!({"view": "plan", "offset": n * 450}));
                client.call("todo_read", &json!({"view": "ready"}));
            }
        }
        client.request("resources/read", json!({"uri": "punch://plan"}));
        report.row(&format!("MB at most with 10,000 todos, {dialect}"), client.peak().unwrap_or_default(), 20.0, "");
    }
}
