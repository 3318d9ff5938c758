//! The schemas in `docs/formats` are what the program says, and what it answers fits them, to the last field.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use punch_testkit::schema::wrong;
use serde_json::{Value, json};

use crate::world::World;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats")
}

fn names(world: &World) -> Vec<String> {
    let all = world.json(&["schema"]);
    all["schemas"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

fn schema(name: &str) -> Value {
    serde_json::from_str(&World::new().ok(&["schema", name])).unwrap()
}

/// After a change of a format: `UPDATE_DOCS=1 cargo test -p punch-cli schemas`.
#[test]
fn the_schemas_are_up_to_date() {
    let world = World::new();
    let mut files = BTreeSet::new();
    for name in names(&world) {
        let file = format!("{name}.schema.json");
        let path = folder().join(&file);
        let wanted = world.ok(&["schema", &name]);
        if env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, &wanted).unwrap();
        }
        let written = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert_eq!(written, wanted, "{name}: run the test with UPDATE_DOCS=1");
        files.insert(file);
    }
    let there = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let there: BTreeSet<String> = there.filter(|name| name.ends_with(".schema.json")).collect();
    assert_eq!(there, files);
    let run = world.punch(&["schema", "answer-lst"]);
    assert_eq!(run.exit, Some(1));
    assert!(run.stderr.contains("answer-list"), "{}", run.stderr);
}

/// Runs a verb with `--json` and holds its answer against a schema.
fn fits(world: &World, name: &str, arguments: &[&str]) -> Value {
    let run = world.punch(&[&["--json"], arguments].concat());
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {}", run.stderr));
    assert_eq!(wrong(&schema(name), &answer), [""; 0], "{arguments:?}: {answer}");
    answer
}

#[test]
fn answers_about_nothing_fit_their_schemas() {
    let world = World::new();
    for verb in ["list", "ready", "status", "schedule", "inbox"] {
        fits(&world, &format!("answer-{verb}"), &[verb]);
    }
    fits(&world, "answer-claim", &["claim", "--owner", "w"]);
    fits(&world, "answer-checkpoint", &["checkpoint", "list"]);
    fits(&world, "answer-error", &["show", "T-1"]);
    fits(&world, "answer-error", &["list", "--no-such-flag"]);
}

#[test]
fn answers_about_a_rich_plan_fit_their_schemas() {
    let world = World::with_git();
    fits(&world, "answer-add", &["add", "One", "Two", "--phase", "Build", "--files", "src/**", "--priority", "2"]);
    fits(
        &world,
        "answer-add",
        &[
            "add",
            "Three",
            "--id",
            "three",
            "--needs",
            "T-1",
            "--complexity",
            "large",
            "--tokens",
            "9000",
            "--verify",
            "true",
            "--criteria",
            "it works",
            "--description",
            "more",
            "--active-form",
            "Doing three",
        ],
    );
    fits(&world, "answer-add", &["add", "Four"]);
    fits(&world, "answer-add", &["note", "T-1", "a remark"]);
    fits(&world, "answer-add", &["hold", "T-3", "which color?", "--kind", "human"]);
    let inbox = fits(&world, "answer-inbox", &["inbox"]);
    assert_eq!(inbox["items"][0]["kind"], "hold");
    fits(&world, "answer-add", &["start", "T-1", "--owner", "w"]);
    fits(&world, "answer-add", &["fail", "T-1", "--owner", "w", "--error", "it broke"]);
    let claimed = fits(&world, "answer-claim", &["claim", "--owner", "w"]);
    assert_eq!(claimed["todo"]["status"], "in_progress");
    fits(&world, "answer-error", &["done", "three"]);
    let save = fits(&world, "answer-checkpoint", &["checkpoint", "save", "--note", "here"]);
    assert!(save["checkpoint"]["git"]["commit"].is_string());
    let id = claimed["todo"]["id"].as_str().unwrap();
    fits(&world, "answer-add", &["done", id, "--owner", "w", "--evidence", "seen"]);
    fits(&world, "answer-checkpoint", &["checkpoint", "diff"]);
    fs::write(world.project.join("a.txt"), "y\n").unwrap();
    fs::write(world.project.join("b.txt"), "new\n").unwrap();
    fits(&world, "answer-checkpoint", &["checkpoint", "save"]);
    fits(&world, "answer-checkpoint", &["checkpoint", "show"]);
    fits(&world, "answer-checkpoint", &["checkpoint", "list"]);
    fits(&world, "answer-checkpoint", &["checkpoint", "restore", save["checkpoint"]["id"].as_str().unwrap()]);
    fits(&world, "answer-checkpoint", &["checkpoint", "prune", "--keep", "1"]);
    fits(&world, "answer-list", &["list", "--all"]);
    fits(&world, "answer-ready", &["ready"]);
    fits(&world, "answer-show", &["show", "three"]);
    fits(&world, "answer-status", &["status"]);
    for policy in ["list", "level", "makespan"] {
        fits(&world, "answer-schedule", &["schedule", "--policy", policy, "--agents", "2", "--context", "20000"]);
    }
    let exported: Value = serde_json::from_str(&world.ok(&["export", "--format", "extended"])).unwrap();
    assert_eq!(wrong(&schema("extended"), &exported), [""; 0]);
    assert_eq!(exported["todos"].as_array().unwrap().len(), 4);
}

#[test]
fn a_decision_that_is_printed_fits_its_schema() {
    let world = World::with_git();
    world.ok(&["add", "Of the user"]);
    let call = |event: &str, input: Value| world.feed(&["hook", "--agent", "claude", event], &input.to_string());
    let session = json!({"session_id": "s1", "cwd": world.project, "hook_event_name": "Stop"});
    call("Stop", session.clone());
    let unbound: Value = serde_json::from_str(&world.ok(&["why-stop", "--line"])).unwrap();
    assert_eq!(unbound["decision"]["reason"]["code"], "unbound");
    assert_eq!(wrong(&schema("decision"), &unbound), [""; 0], "{unbound}");
    let todos = json!([{"content": "Write it", "status": "in_progress", "activeForm": "Writing"}]);
    let write = json!({"session_id": "s1", "cwd": world.project, "hook_event_name": "PostToolUse",
        "tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_response": {}});
    call("PostToolUse", write);
    call("Stop", session);
    let going: Value = serde_json::from_str(&world.ok(&["why-stop", "--line"])).unwrap();
    assert_eq!(going["decision"]["do"], "continue", "{going}");
    assert_eq!(wrong(&schema("decision"), &going), [""; 0], "{going}");
    fits(&world, "answer-status", &["status"]);
}

#[test]
fn recorded_calls_fit_the_schemas_of_their_tools() {
    for dialect in ["native", "cursor", "phases", "todowrite", "extended"] {
        let schema = schema(&format!("tools-{dialect}"));
        let path = folder().join(format!("../../examples/{dialect}.jsonl"));
        let mut calls = 0;
        for line in fs::read_to_string(path).unwrap().lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let batches = record["batches"].as_array().into_iter().flatten().map(|ops| json!({"ops": ops}));
            let given = record["calls"].as_array().into_iter().flatten().cloned();
            for call in given.chain(batches) {
                // Examples also show what is refused, and fields that models are not told of.
                calls += usize::from(wrong(&schema, &call).is_empty());
            }
        }
        assert!(calls > 0, "{dialect}");
    }
}
