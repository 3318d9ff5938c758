//! Times beside the bare server, in turns, so that a busy machine is busy for both.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::Report;
use crate::client::Client;

pub fn run(report: &mut Report, punch: &str, bare: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    assert!(Command::new("git").args(["init", "-q"]).current_dir(path).status().unwrap().success());
    fill(punch, path, 1_000);
    let mut ours = Client::start(punch, &["mcp"], path);
    let mut theirs = Client::start(bare, &["bare.db"], path);
    let (next, plan, none) = (json!({"view": "next"}), json!({}), json!({}));
    // Each on another todo: notes stay, and a pile of them would be measured instead.
    let note = |n: usize| json!({"ops": [{"op": "note", "id": format!("n{}", 500 + n), "text": "seen"}]});
    let flip = |n: usize| json!({"ops": [{"op": if n.is_multiple_of(2) { "start" } else { "reopen" }, "id": "n7"}]});
    let times = turns(400, &mut |n| {
        vec![
            timed(|| theirs.call("noop", &none)),
            timed(|| ours.call("todo_read", &next)),
            timed(|| ours.call("todo_read", &plan)),
            timed(|| theirs.call("commit", &none)),
            timed(|| ours.call("todo_write", &flip(n))),
            timed(|| ours.call("todo_write", &note(n))),
        ]
    });
    let micro = |n: usize| format!("({:.0} µs)", times[n]);
    println!("bare server: no-op {:.0} µs, one durable commit {:.0} µs", times[0], times[3]);
    report.row("read next on 1,000 todos, x no-op", times[1] / times[0], 3.0, &micro(1));
    report.row("read a page of 1,000 todos, x no-op", times[2] / times[0], 3.0, &micro(2));
    report.row("start or reopen on 1,000 todos, x commit", times[4] / times[3], 2.0, &micro(4));
    report.row("note on 1,000 todos, x commit", times[5] / times[3], 2.0, &micro(5));
    let spawn =
        turns(30, &mut |_| vec![timed(|| spawned(bare, &["bare.db"], path)), timed(|| spawned(punch, &["mcp"], path))]);
    println!("spawn to first tools/list: bare {:.0} µs", spawn[0]);
    report.row("spawn to tools/list, x bare", spawn[1] / spawn[0], 2.0, &format!("({:.0} µs)", spawn[1]));
    memory(report, punch);
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

/// Todos in chains of ten.
fn fill(punch: &str, folder: &Path, count: usize) {
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
}

fn memory(report: &mut Report, punch: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    assert!(Command::new("git").args(["init", "-q"]).current_dir(path).status().unwrap().success());
    fill(punch, path, 9_500);
    let mut client = Client::start(punch, &["mcp"], path);
    for n in 0..20 {
        client.call("todo_read", &json!({"view": "plan", "offset": n * 100}));
        client.call("todo_write", &json!({"ops": [{"op": "note", "id": format!("n{n}"), "text": "seen"}]}));
    }
    let Some(peak) = client.peak() else { return println!("memory is left out: the system does not tell it") };
    report.row("MB at most with 10,000 todos, native", peak, 20.0, "");
    let mut whole = Client::start(punch, &["mcp", "--dialect", "cursor"], path);
    whole.call("todo_write", &json!({"merge": true, "todos": [{"id": "n9", "status": "cancelled"}]}));
    println!("with a list dialect, which needs the whole plan: {:.1} MB", whole.peak().unwrap_or_default());
}
