//! `log --follow`: what other processes write, as it happens.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::run::Stage;
use crate::world::{World, finished};

/// Far more than it takes: a slow machine must not fail the test.
const SOON: Duration = Duration::from_secs(60);

struct Following {
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

fn lines(from: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (send, lines) = channel();
    thread::spawn(move || BufReader::new(from).lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
    lines
}

impl Following {
    fn start(world: &World, arguments: &[&str]) -> Self {
        let mut command = world.command(&[&["log", "--follow"], arguments].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdout, stderr) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
        Self { child, stdout, stderr }
    }

    /// The next line without its time.
    fn line(&self) -> String {
        let line = self.stdout.recv_timeout(SOON).unwrap();
        line.split("  ").enumerate().filter(|(n, _)| *n != 1).map(|(_, part)| part).collect::<Vec<_>>().join("  ")
    }

    fn json(&self) -> Value {
        let mut value: Value = serde_json::from_str(&self.stdout.recv_timeout(SOON).unwrap()).unwrap();
        assert!(value["at"].take().is_i64() || value["kind"] == "gap");
        value
    }

    fn note(&self) -> String {
        self.stderr.recv_timeout(SOON).unwrap()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn changes_of_other_processes_are_printed_in_order() {
    let world = World::new();
    world.ok(&["add", "Design it"]);
    world.ok(&["add", "Write it"]);
    let (all, last, one) = (
        Following::start(&world, &[]),
        Following::start(&world, &["--limit", "1"]),
        Following::start(&world, &["--todo", "T-2"]),
    );
    assert_eq!(all.line(), "1  user  T-1 added: Design it");
    for following in [&all, &last, &one] {
        assert_eq!(following.line(), "2  user  T-2 added: Write it");
    }
    world.ok(&["start", "T-1"]);
    world.ok(&["done", "T-2"]);
    world.ok(&["undo"]);
    for following in [&all, &last] {
        assert_eq!(following.line(), "3  user  T-1 started");
    }
    for following in [&all, &last, &one] {
        assert_eq!(following.line(), "4  user  T-2 completed");
        assert_eq!(following.line(), "5  user  undid 4: T-2 changed back");
    }
}

#[test]
fn lines_of_json_have_a_kind_and_the_end_of_a_timer_is_one() {
    let world = World::new();
    world.ok(&["add", "Design it"]);
    let following = Following::start(&world, &["--json"]);
    let added = json!([{"kind": "added", "todo": "T-1", "fields": following_fields(&world)}]);
    let revision = |n: u64, events: Value| {
        json!({"schema": 1, "kind": "revision", "revision": n, "at": null, "by": "user", "undoes": null, "undoneBy": null,
               "events": events})
    };
    assert_eq!(following.json(), revision(1, added));
    world.ok(&["hold", "T-1", "wait", "--kind", "timer", "--for", "1s"]);
    assert_eq!(following.json(), revision(2, json!([{"kind": "held", "todo": "T-1", "fields": ["hold"]}])));
    let ended = json!({"schema": 1, "kind": "time_passed", "at": null, "todo": "T-1", "ended": "timer"});
    assert_eq!(following.json(), ended);
}

/// The fields that the first event has, as `punch log` prints them.
fn following_fields(world: &World) -> Value {
    world.json(&["log"])["revisions"][0]["events"][0]["fields"].clone()
}

/// What the terminal of a run shows is what a second terminal prints, to the last line.
#[test]
fn every_event_of_a_run_is_printed_in_another_process() {
    let stage = Stage::new();
    stage.add(&["work on", "refuse it"]);
    let following = Following::start(&stage.world, &["--json", "--limit", "1"]);
    // From here on nothing is missed.
    assert_eq!(following.json()["kind"], "revision");
    let run = finished(stage.command(&["--json"]).output().unwrap());
    let event = |line: &str| serde_json::from_str::<Value>(line).ok().filter(|event| event["event"].is_string());
    let mut shown: Vec<Value> = run.stdout.lines().filter_map(event).collect();
    shown.iter_mut().for_each(|event| drop(event.as_object_mut().unwrap().remove("schema")));
    let (mut printed, mut last) = (Vec::new(), false);
    while !last {
        let line = following.json();
        if line["activity"]["kind"] == "run" {
            printed.push(line["activity"]["event"].clone());
            last = line["activity"]["event"]["event"] == "ended";
        }
    }
    assert!(shown.len() > 5, "{}", run.render());
    assert_eq!(printed, shown);
}

#[test]
fn one_todo_is_followed_through_a_run() {
    let stage = Stage::new();
    stage.add(&["work on", "refuse it"]);
    let following = Following::start(&stage.world, &["--todo", "T-2"]);
    assert!(following.line().contains("T-2 added"));
    finished(stage.command(&["--agents", "1"]).output().unwrap());
    let mut printed = Vec::new();
    while !printed.last().is_some_and(|line: &String| line.contains("run 1: T-2 failed:")) {
        printed.push(following.line());
        let line = printed.last().unwrap();
        assert!(!line.contains("T-1 is done") && !line.contains("works on T-1"), "{printed:#?}");
    }
    assert!(printed.iter().any(|line| line.contains("works on T-2: refuse it")), "{printed:#?}");
}

#[test]
fn the_end_of_a_run_is_a_line() {
    let stage = Stage::new();
    stage.add(&["work on"]);
    let following = Following::start(&stage.world, &["--limit", "1"]);
    assert!(following.line().contains("T-1 added"));
    assert_eq!(finished(stage.command(&[]).output().unwrap()).exit, Some(0));
    while !following.line().contains("run 1 is done, 1 completed") {}
}

#[test]
fn a_store_that_is_not_there_is_waited_for() {
    let world = World::new();
    let following = Following::start(&world, &[]);
    assert_eq!(following.note(), "note: there is no store yet; waiting for the store");
    world.ok(&["add", "Design it"]);
    assert_eq!(following.line(), "1  user  T-1 added: Design it");
}

#[test]
fn a_store_that_is_replaced_is_followed_at_its_new_place() {
    let world = World::new();
    world.ok(&["add", "Design it"]);
    let (store, copy) = (world.store(), world.root.join("copy.db"));
    world.ok(&["store", "backup", copy.to_str().unwrap()]);
    let following = Following::start(&world, &[]);
    assert_eq!(following.line(), "1  user  T-1 added: Design it");
    world.ok(&["add", "Write it"]);
    assert_eq!(following.line(), "2  user  T-2 added: Write it");
    // An older copy in its place: the revision that was printed last is not in it.
    let folder = store.parent().unwrap();
    fs::rename(folder, world.root.join("away")).unwrap();
    assert!(following.note().ends_with("waiting for the store"));
    fs::create_dir(folder).unwrap();
    fs::copy(&copy, &store).unwrap();
    assert!(following.note().starts_with("note: revisions are missing here"));
    world.ok(&["add", "Ship it"]);
    assert_eq!(following.line(), "2  user  T-2 added: Ship it");
}
