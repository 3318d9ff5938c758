//! `schedule`.

use std::fs;

use insta::assert_snapshot;

use crate::world::World;

const PLAN: &str = r#"{"todos": [
    {"id": "T-1", "title": "Design", "complexity": "medium", "priority": 1},
    {"id": "T-2", "title": "API", "complexity": "large", "dependsOn": ["T-1"]},
    {"id": "T-3", "title": "Page", "complexity": "epic", "dependsOn": ["T-1"]},
    {"id": "T-4", "title": "Docs", "complexity": "small", "priority": 5},
    {"id": "T-5", "title": "Ship", "estimatedTokens": 150000, "dependsOn": ["T-2", "T-3"]},
    {"id": "T-6", "title": "Old", "status": "completed"},
    {"id": "T-7", "title": "Ask", "status": "blocked"}
]}"#;

#[test]
fn a_file_is_scheduled_without_a_store() {
    let world = World::new();
    fs::write(world.project.join("plan.json"), PLAN).unwrap();
    assert_snapshot!(world.script(r"
        schedule --file plan.json --agents 2
        schedule --file plan.json --policy level --ascii
        schedule --file plan.json --skip-optional --policy makespan --json
        schedule --file plan.json --agents 2 --limit 4
        schedule --file plan.json --agents 0
        schedule --file missing.json
        schedule
        schedule --json
    "), @r#"
    $ punch schedule --file plan.json --agents 2
    4 todos for 2 agents, 2 context windows of 140,000 tokens (order: list)
    total 120,000 tokens (lower bound 120,000)
      1 |T-1========|T-3============================================================
      2 |T-4=.......|T-2============================................................
        | a todo begins   # in a new context window   . waiting
    agent 1 window 1 (120,000): T-1, T-3
    agent 2 window 1 (58,000): T-4, T-2
    left out: T-5 larger than a context window: 150,000 of 140,000 tokens; split it
    left out: T-7 on hold: blocked
    $ punch schedule --file plan.json --policy level --ascii
    4 todos for 1 agent, 3 context windows of 140,000 tokens (order: level)
    total 178,000 tokens (lower bound 178,000)
      1 |T-1====|==#T-2==================#T-3=======================================
        | a todo begins   # in a new context window   . waiting
    agent 1 window 1 (28,000): T-1, T-4
    agent 1 window 2 (50,000): T-2
    agent 1 window 3 (100,000): T-3
    left out: T-5 larger than a context window: 150,000 of 140,000 tokens; split it
    left out: T-7 on hold: blocked
    $ punch schedule --file plan.json --skip-optional --policy makespan --json
    {"schema":1,"policy":"makespan","agents":1,"contextWindow":200000,"budget":140000,"groups":[{"group":1,"todos":["T-1","T-6","T-7","T-4"]},{"group":2,"todos":["T-2","T-3"]},{"group":3,"todos":["T-5"]}],"windows":[{"agent":1,"window":1,"todos":["T-1","T-3"],"estimatedTokens":120000},{"agent":1,"window":2,"todos":["T-2"],"estimatedTokens":50000}],"slots":[{"todo":"T-1","agent":1,"window":1,"start":0,"end":20000},{"todo":"T-3","agent":1,"window":1,"start":20000,"end":120000},{"todo":"T-2","agent":1,"window":2,"start":120000,"end":170000}],"makespan":170000,"lowerBound":170000,"checkpoints":[{"after":"T-3","agent":1,"window":1}],"oversize":["T-5"],"blocked":[{"id":"T-4","cause":"optional","why":"optional"},{"id":"T-5","cause":"oversize","why":"larger than a context window: 150,000 of 140,000 tokens"},{"id":"T-7","cause":"held","why":"on hold: blocked"}]}
    $ punch schedule --file plan.json --agents 2 --limit 4
    4 todos for 2 agents, 2 context windows of 140,000 tokens (order: list)
    total 120,000 tokens (lower bound 120,000)
      1 |T-1========|T-3============================================================
    +6 more
    2> 6 more lines not shown; --limit N shows more, --json all
    $ punch schedule --file plan.json --agents 0
    2> error: invalid value '0' for '--agents <K>': 0 is not in 1..=10000
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch schedule --file missing.json
    2> error: cannot use the file `missing.json`: no such file or directory
    2> hint: check the name and the permissions
    exit 1
    $ punch schedule
    Nothing to schedule: no todo is open.
    $ punch schedule --json
    {"schema":1,"policy":"list","agents":1,"contextWindow":200000,"budget":140000,"groups":[],"windows":[],"slots":[],"makespan":0,"lowerBound":0,"checkpoints":[],"oversize":[],"blocked":[]}
    "#);
    assert!(!world.project.join(".punch").exists());
}

#[test]
fn the_plan_itself_is_scheduled() {
    let world = World::new();
    fs::write(world.project.join("plan.json"), PLAN).unwrap();
    world.ok(&["import", "plan.json"]);
    assert_snapshot!(world.script("schedule --agents 3"), @r#"
    $ punch schedule --agents 3
    4 todos for 3 agents, 2 context windows of 140,000 tokens (order: list)
    total 120,000 tokens (lower bound 120,000)
      1 |T-1========|T-3============================================================
      2 |T-4=.......|T-2============================................................
      3 ............................................................................
        | a todo begins   # in a new context window   . waiting
    agent 1 window 1 (120,000): T-1, T-3
    agent 2 window 1 (58,000): T-4, T-2
    left out: T-5 larger than a context window: 150,000 of 140,000 tokens; split it
    left out: T-7 on hold: blocked
    "#);
}

#[test]
fn bad_files_are_refused() {
    let world = World::new();
    fs::write(
        world.project.join("circle.json"),
        r#"[{"id":"a","title":"x","dependsOn":["b"]},{"id":"b","title":"y","dependsOn":["a"]}]"#,
    )
    .unwrap();
    fs::write(world.project.join("text.json"), "no json").unwrap();
    assert_snapshot!(world.script(r"
        schedule --file circle.json
        schedule --file text.json --json
    "), @r#"
    $ punch schedule --file circle.json
    2> error: dependencies form a cycle: b -> a -> b
    2> hint: remove one of these dependencies
    exit 1
    $ punch schedule --file text.json --json
    {"schema":1,"error":{"code":"invalid","message":"not JSON: expected ident at line 1 column 2","hint":"fix that value and try again; nothing was changed"}}
    exit 1
    "#);
}

#[test]
fn names_that_nobody_knows_are_told_and_text_that_nobody_reads_is_not() {
    let world = World::new();
    let todo = |n: usize| format!(r#"{{"id": "T-{n}", "title": "x", "depends_on": ["T-1"], "estimatedTokens": 1e5}}"#);
    let todos: Vec<String> = (1..=200).map(todo).collect();
    fs::write(world.project.join("plan.json"), format!("[{}]", todos.join(","))).unwrap();
    let run = world.punch(&["schedule", "--file", "plan.json", "--agents", "300", "--json"]);
    assert_eq!((run.exit, run.stderr.as_str()), (Some(0), "note: skipped, not understood: depends_on\n"));
    assert!(run.stdout.contains(r#""start":0,"end":100000}"#), "{}", run.stdout);
}
