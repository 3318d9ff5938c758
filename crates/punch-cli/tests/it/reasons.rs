//! `why` and `graph`.

use insta::assert_snapshot;
use serde_json::json;

use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.ok(&["add", "Design it", "--id", "design"]);
    world.ok(&["add", "Write it", "--id", "code", "--needs", "design", "--files", "src/**"]);
    world.ok(&["add", "Describe it", "--id", "docs", "--needs", "code"]);
    world.ok(&["add", "Tidy up", "--id", "tidy", "--files", "src/main.rs"]);
    world
}

#[test]
fn an_empty_project_waits_for_nothing() {
    let world = World::new();
    assert_snapshot!(world.script(r"
        why
        why --json
        why x
        graph
        graph --json
        graph --format dot
        graph --format svg
    "), @r#"
$ punch why
Nothing is open.
$ punch why --json
{"schema":1,"todo":null,"standing":"closed","waitsFor":[],"roots":[],"unblocks":[],"conflicts":[],"open":0,"ready":[],"running":[],"totals":{"roots":0,"ready":0,"running":0,"conflicts":0}}
$ punch why x
2> error: no todo `x`
2> hint: `punch list --all` shows every todo, closed ones included; `punch log` names archived ones
exit 1
$ punch graph
No todos.
$ punch graph --json
{"schema":1,"todos":[],"edges":[]}
$ punch graph --format dot
digraph plan {
  rankdir=LR;
  node [shape=box, style="rounded,filled", fontname="sans-serif"];
}
$ punch graph --format svg
2> error: invalid value 'svg' for '--format <FORMAT>'
2>   [possible values: text, dot, mermaid]
2>
2> For more information, try '--help'.
exit 2
"#);
    assert_eq!(std::fs::read_dir(&world.project).unwrap().count(), 0);
}

#[test]
fn why_tells_what_a_todo_waits_for_and_what_it_sets_free() {
    assert_snapshot!(world().script(r"
        why design
        why docs
        why code
        why 'it'
        why nothing
        start design
        why design
        drop design
        why docs
        done tidy
        why tidy
    "), @r#"
    $ punch why design
    [ ] design  Design it
    design is ready
    finishing design unblocks code "Write it"; 2 todos are waiting for it
    $ punch why docs
    [.] docs  Describe it
    docs is waiting for code "Write it" (waiting)
    ultimately waiting for design "Design it" (ready)
    nothing is waiting for docs
    next: `punch start design`
    $ punch why code
    [.] code  Write it
    code is waiting for design "Design it" (ready)
    finishing code unblocks docs "Describe it"; 1 todo is waiting for it
    1 in conflict: tidy "Tidy up" touches src/main.rs, code touches src/**
    next: `punch start design`
    $ punch why 'it'
    2> error: `it` matches 3 todos:
    2>   design  Design it
    2>   code  Write it
    2>   docs  Describe it
    2> hint: use the id of the one you mean
    exit 1
    $ punch why nothing
    2> error: no todo `nothing`
    2> hint: `punch list --all` shows every todo, closed ones included; `punch log` names archived ones
    exit 1
    $ punch start design
    [>] design  Design it
    $ punch why design
    [>] design  Design it
    design is in progress
    finishing design unblocks code "Write it"; 2 todos are waiting for it
    $ punch drop design
    [-] design  Design it
    note: code can no longer start: design is cancelled
    $ punch why docs
    [.] docs  Describe it
    docs is waiting for code "Write it" (waiting)
    ultimately waiting for design "Design it" (cancelled)
    nothing is waiting for docs
    next: `punch reopen design`, or `punch edit code --drop-needs design`
    $ punch done tidy
    [x] tidy  Tidy up
    $ punch why tidy
    [x] tidy  Tidy up
    tidy is completed
    "#);
}

#[test]
fn why_alone_tells_where_all_waiting_begins_people_first() {
    let world = world();
    world.ok(&["hold", "tidy", "rate limit", "--kind", "external"]);
    world.ok(&["hold", "design", "which color?"]);
    assert_snapshot!(world.script(r"
        why
        release design
        why
        start design
        why
    "), @r#"
    $ punch why
    Nothing can be started; 4 todos are open.
    Blocked by:
      design "Design it" (waiting for you: which color?); 2 todos are waiting for it
      tidy "Tidy up" (on hold: rate limit)
    1 in conflict: tidy touches src/main.rs, code "Write it" touches src/**
    $ punch release design
    [ ] design  Design it
      no longer on hold
    ready now: design
    $ punch why
    1 of 4 open todos can be started: design "Design it"
    Other open todos are blocked by:
      tidy "Tidy up" (on hold: rate limit)
    1 in conflict: tidy touches src/main.rs, code "Write it" touches src/**
    $ punch start design
    [>] design  Design it
    $ punch why
    Nothing can be started; 4 todos are open.
    Blocked by:
      tidy "Tidy up" (on hold: rate limit)
      design "Design it" (in progress); 2 todos are waiting for it
    1 in conflict: tidy touches src/main.rs, code "Write it" touches src/**
    "#);
}

#[test]
fn what_is_missing_dropped_or_circular_is_named() {
    let world = World::new();
    let todos = json!([
        {"id": "a", "content": "one", "dependsOn": ["nobody"]},
        {"id": "b", "content": "two", "dependsOn": ["c"]},
        {"id": "c", "content": "three", "dependsOn": ["b"]},
        {"id": "d", "content": "four", "status": "cancelled"},
        {"id": "e", "content": "five", "dependsOn": ["d"]},
        {"id": "f", "content": "five", "dependsOn": ["e"]},
        {"id": "g", "content": "Five!"},
    ]);
    world.feed(&["import", "-", "--circles"], &todos.to_string());
    assert_snapshot!(world.script(r"
        why
        why e
        why f
        why b
        why g
        graph --all
        graph --format dot
    "), @r##"
    $ punch why
    1 of 6 open todos can be started: g "Five!"
    Other open todos are blocked by:
      d "four" (cancelled); 2 todos are waiting for it
      nobody (no such todo); 1 todo is waiting for it
      b "two" (in a cycle with c); 1 todo is waiting for it
      c "three" (in a cycle with b); 1 todo is waiting for it
    1 in conflict: g has the same text as e "five"
    $ punch why e
    [#] e  five
    e is stuck
    it is waiting for d "four" (cancelled)
    finishing e unblocks f "five"; 1 todo is waiting for it
    1 in conflict: g "Five!" has the same text as e
    next: `punch reopen d`, or `punch edit e --drop-needs d`
    $ punch why f
    [.] f  five
    f is waiting for e "five" (waiting)
    ultimately waiting for d "four" (cancelled)
    nothing is waiting for f
    1 in conflict: g "Five!" has the same text as f
    next: `punch reopen d`, or `punch edit e --drop-needs d`
    $ punch why b
    [.] b  two
    b is waiting for c "three" (in a cycle with b)
    ultimately waiting for c (in a cycle with b), b (in a cycle with c)
    finishing b alone unblocks nothing; 1 todo is waiting for it
    next: `punch edit b --drop-needs c`
    $ punch why g
    [ ] g  Five!
    g is ready
    nothing is waiting for g
    2 in conflict: g has the same text as e "five", g has the same text as f "five"
    $ punch graph --all
    group 1
      [.] a  one  <- nobody (missing)
      [.] b  two  <- c (cycle)
      [.] c  three  <- b (cycle)
      [-] d  four
      [ ] g  Five!
    group 2
      [#] e  five  <- d
    group 3
      [.] f  five  <- e
    $ punch graph --format dot
    digraph plan {
      rankdir=LR;
      node [shape=box, style="rounded,filled", fontname="sans-serif"];
      n1 [label="a\none", fillcolor="#eeeeee"];
      n2 [label="b\ntwo", fillcolor="#eeeeee"];
      n3 [label="c\nthree", fillcolor="#eeeeee"];
      n5 [label="e\nfive", fillcolor="#eeeeee"];
      n6 [label="f\nfive", fillcolor="#eeeeee"];
      n7 [label="g\nFive!", fillcolor="#d9ecff"];
      m1 [label="nobody\n(missing)", style=dashed];
      m1 -> n1 [style=dashed];
      n3 -> n2 [style=dashed, color=red];
      n2 -> n3 [style=dashed, color=red];
      n5 -> n6;
    }
    "##);
}

#[test]
fn the_shapes_for_programs_are_fixed() {
    let world = world();
    let why = world.json(&["why", "code"]);
    assert_eq!((&why["todo"]["id"], &why["standing"]), (&json!("code"), &json!("blocked")));
    assert_eq!(
        why["waitsFor"],
        json!([{"id": "design", "status": "pending", "cause": "ready", "reason": null, "owner": null, "until": null, "neededBy": "code"}])
    );
    assert_eq!(why["roots"], why["waitsFor"]);
    assert_eq!(why["unblocks"], json!(["docs"]));
    assert_eq!(why["conflicts"][0]["over"], "files");
    assert_eq!(why["totals"], json!({"waitsFor": 1, "roots": 1, "unblocks": 1, "waiting": 1, "conflicts": 1}));
    let all = world.json(&["why"]);
    assert_eq!((&all["todo"], &all["standing"]), (&json!(null), &json!("ready")));
    assert_eq!((&all["open"], &all["ready"]), (&json!(4), &json!(["design", "tidy"])));
    let graph = world.json(&["graph"]);
    assert_eq!(graph["edges"][0], json!({"needs": "design", "todo": "code", "kind": "active"}));
    assert_eq!(graph["todos"][1]["parallelGroup"], 2);
}

#[test]
fn graph_draws_layers() {
    let world = world();
    world.ok(&["done", "design"]);
    assert_snapshot!(world.script(r"
        graph
        graph --all
        graph --all --ascii
        graph --limit 4
        graph --format mermaid
    "), @r#"
    $ punch graph
    group 1
      [ ] tidy  Tidy up
    group 2
      [ ] code  Write it  <- design (done)
    group 3
      [.] docs  Describe it  <- code
    $ punch graph --all
    group 1
      [x] design  Design it
      [ ] tidy  Tidy up
    group 2
      [ ] code  Write it  <- design (done)
    group 3
      [.] docs  Describe it  <- code
    $ punch graph --all --ascii
    group 1
      [x] design  Design it
      [ ] tidy  Tidy up
    group 2
      [ ] code  Write it  <- design (done)
    group 3
      [.] docs  Describe it  <- code
    $ punch graph --limit 4
    group 1
      [ ] tidy  Tidy up
    group 2
    +2 more
    2> 2 more todos not shown; `punch graph --limit 6` shows all
    $ punch graph --format mermaid
    flowchart LR
      classDef ready fill:#d9ecff,stroke:#666,color:#000
      classDef blocked fill:#eeeeee,stroke:#666,color:#000
      classDef running fill:#fff2b3,stroke:#666,color:#000
      classDef done fill:#d9f2d9,stroke:#666,color:#000
      classDef dropped fill:#f6d5d5,stroke:#666,color:#000
      n2["code: Write it"]:::ready
      n3["docs: Describe it"]:::blocked
      n4["tidy: Tidy up"]:::ready
      n2 --> n3
    "#);
}

#[test]
fn hostile_text_stays_text_in_diagrams() {
    let world = World::new();
    let todos = json!([
        {"id": "a\"];evil", "content": "end\"]; x -> y \\\" \n## `md` <b>&amp;&lt; #quot; ;;[]{}|"},
        {"id": "b\\", "content": "\u{1b}[31mred\u{202e}", "dependsOn": ["a\"];evil"]},
    ]);
    world.feed(&["import", "-"], &todos.to_string());
    assert_snapshot!(world.script(r"
        graph
        graph --format dot
        graph --format mermaid
    "), @r##"
    $ punch graph
    group 1
      [ ] a"];evil  end"]; x -> y \"  ## `md` <b>&amp;&lt; #quot; ;;[]{}|
    group 2
      [.] b\  ␛[31mred�  <- a"];evil
    $ punch graph --format dot
    digraph plan {
      rankdir=LR;
      node [shape=box, style="rounded,filled", fontname="sans-serif"];
      n1 [label="a\"];evil\nend\"]; x -> y \\\"  ## `md` <b>&amp;amp;&amp;lt; #quot; ;;[]{}|", fillcolor="#d9ecff"];
      n2 [label="b\\\n␛[31mred�", fillcolor="#eeeeee"];
      n1 -> n2;
    }
    $ punch graph --format mermaid
    flowchart LR
      classDef ready fill:#d9ecff,stroke:#666,color:#000
      classDef blocked fill:#eeeeee,stroke:#666,color:#000
      classDef running fill:#fff2b3,stroke:#666,color:#000
      classDef done fill:#d9f2d9,stroke:#666,color:#000
      classDef dropped fill:#f6d5d5,stroke:#666,color:#000
      n1["a#34;#93;#59;evil: end#34;#93;#59; x -#62; y #92;#34;  #35;#35; #96;md#96; #60;b#62;#38;amp#59;#38;lt#59; #35;quot#59; #59;#59;#91;#93;#123;#125;#124;"]:::ready
      n2["b#92;: ␛#91;31mred�"]:::blocked
      n1 --> n2
    "##);
    for format in ["dot", "mermaid"] {
        let text = world.ok(&["graph", "--format", format]);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    }
}

#[test]
fn a_todo_in_a_cycle_makes_nothing_of_the_cycle_ready() {
    let world = World::new();
    let todos = serde_json::json!([{"id": "a", "content": "A", "dependsOn": ["b"]}, {"id": "b", "content": "B", "dependsOn": ["a"]},
        {"id": "c", "content": "C", "dependsOn": ["a"]}]);
    std::fs::write(world.project.join("c.json"), todos.to_string()).unwrap();
    world.ok(&["import", "--circles", "c.json"]);
    let why = world.ok(&["why", "a"]);
    assert!(why.contains("finishing a unblocks c \"C\"; 2 todos are waiting for it"), "{why}");
}

#[test]
fn a_changed_rule_about_cancelled_todos_counts_at_once() {
    let world = World::with_git();
    world.ok(&["add", "a"]);
    world.ok(&["add", "b", "--needs", "T-1"]);
    world.ok(&["drop", "T-1"]);
    let ready = || world.json(&["ready"])["todos"].as_array().unwrap().len();
    assert_eq!(ready(), 0);
    world.ok(&["config", "set", "policy.cancelled_dep", "satisfy"]);
    assert_eq!(ready(), 1);
    world.ok(&["config", "set", "policy.cancelled_dep", "block"]);
    assert_eq!(ready(), 0);
}
