//! The verbs that only look.

use insta::assert_snapshot;

use crate::world::{World, ids};

fn world() -> World {
    let world = World::new();
    world.ok(&["add", "Design it", "--id", "design", "--phase", "Core", "--description", "with care"]);
    world.ok(&["add", "Write it", "--id", "code", "--needs", "design", "--phase", "Core", "--files", "src/**"]);
    world.ok(&["add", "Describe it", "--id", "docs", "--needs", "code", "--phase", "Docs", "--priority", "4"]);
    world.ok(&["add", "Ship it", "--id", "ship", "--needs", "code", "--priority", "1"]);
    world.ok(&["add", "Sweep the floor", "--id", "floor", "--priority", "5"]);
    world
}

#[test]
fn looking_at_nothing_is_no_error_and_makes_no_store() {
    let world = World::new();
    assert_snapshot!(world.script(r"
        list
        tree
        ready
        next
        status
        claim --owner a
        show x
        done x
        list --plan other
    "), @r#"
    $ punch list
    No todos yet: `punch add 'First thing'` adds one.
    $ punch tree
    No todos yet: `punch add 'First thing'` adds one.
    $ punch ready
    No todos yet: `punch add 'First thing'` adds one.
    $ punch next
    No todos yet: `punch add 'First thing'` adds one.
    $ punch status
    No plan here yet. Punchlist keeps your agents' todo list outside their context.
      punch install             connect the coding agents you use
      punch add 'First thing'   or write the plan yourself
      punch demo                see what it does
    $ punch claim --owner a
    No todos yet: `punch add 'First thing'` adds one.
    $ punch show x
    2> error: no todo `x`
    2> hint: `punch list --all` shows every todo, closed ones included; `punch log` names archived ones
    exit 1
    $ punch done x
    2> error: no todo `x`
    2> hint: `punch list --all` shows every todo, closed ones included; `punch log` names archived ones
    exit 1
    $ punch list --plan other
    2> error: no plan `other`
    2> hint: `punch plan list` shows the plans, `punch plan new NAME` creates one
    exit 1
    "#);
    assert_eq!(std::fs::read_dir(&world.project).unwrap().count(), 0);
}

#[test]
fn list_ready_and_next_show_what_there_is() {
    assert_snapshot!(world().script(r"
        list
        list --limit 2
        list --phase Docs
        list --phase Nowhere
        list --phase Dosc
        ready
        ready --limit 1
        next
        start floor
        next
        done floor
        list
        list --all
        next --owner someone
    "), @r#"
    $ punch list
    [ ] design  Design it
    [.] code  Write it  (waiting for design)
    [.] docs  Describe it  (P4; waiting for code)
    [.] ship  Ship it  (P1; waiting for code)
    [ ] floor  Sweep the floor  (P5)
    $ punch list --limit 2
    [ ] design  Design it
    [.] code  Write it  (waiting for design)
    2> 3 more todos not shown; `punch list -n 5` shows all, filters show fewer (`punch help filters`)
    $ punch list --phase Docs
    [.] docs  Describe it  (P4; waiting for code)
    $ punch list --phase Nowhere
    2> error: no phase `Nowhere`
    2> hint: `punch list --tree` shows the phases
    exit 1
    $ punch list --phase Dosc
    2> error: no phase `Dosc` (did you mean `Docs`?)
    2> hint: `punch list --tree` shows the phases
    exit 1
    $ punch ready
    [ ] design  Design it
    [ ] floor  Sweep the floor  (P5)
    $ punch ready --limit 1
    [ ] design  Design it
    $ punch next
    [ ] design  Design it
      description: with care
      phase: Core
      priority: 3 (acts as 1: urgent work is waiting for it)
      blocks: code
    $ punch start floor
    [>] floor  Sweep the floor
    $ punch next
    [>] floor  Sweep the floor
      priority: 5
    $ punch done floor
    [x] floor  Sweep the floor
    $ punch list
    [ ] design  Design it
    [.] code  Write it  (waiting for design)
    [.] docs  Describe it  (P4; waiting for code)
    [.] ship  Ship it  (P1; waiting for code)
    $ punch list --all
    [ ] design  Design it
    [.] code  Write it  (waiting for design)
    [.] docs  Describe it  (P4; waiting for code)
    [.] ship  Ship it  (P1; waiting for code)
    [x] floor  Sweep the floor  (P5)
    $ punch next --owner someone
    [ ] design  Design it
      description: with care
      phase: Core
      priority: 3 (acts as 1: urgent work is waiting for it)
      blocks: code
    "#);
}

#[test]
fn show_tells_what_is_known() {
    assert_snapshot!(world().script(r"
        show design
        show 'write'
        show ship
        show it
        show desing
    "), @r#"
    $ punch show design
    [ ] design  Design it
      description: with care
      phase: Core
      priority: 3 (acts as 1: urgent work is waiting for it)
      blocks: code  Write it
      times: added a moment ago
    $ punch show 'write'
    [.] code  Write it
      why: waiting for design
      phase: Core
      priority: 3 (acts as 1: urgent work is waiting for it)
      needs: design  Design it
      blocks: docs  Describe it
      blocks: ship  Ship it
      files: src/**
      parallel group: 2
      times: added a moment ago
    $ punch show ship
    [.] ship  Ship it
      why: waiting for code
      priority: 1
      needs: code  Write it
      parallel group: 3
      times: added a moment ago
    $ punch show it
    2> error: `it` matches 4 todos:
    2>   design  Design it
    2>   code  Write it
    2>   docs  Describe it
    2>   ship  Ship it
    2> hint: use the id of the one you mean
    exit 1
    $ punch show desing
    2> error: no todo `desing` (did you mean `design`?)
    2> hint: `punch list --all` shows every todo, closed ones included; `punch log` names archived ones
    exit 1
    "#);
}

#[test]
fn tree_and_status_draw_the_plan() {
    assert_snapshot!(world().script(r"
        tree
        start design
        tree --ascii
        status
        status --ascii
        status --json
    "), @r#"
    $ punch tree
    [.] ship  Ship it  (P1; waiting for code)
    [ ] floor  Sweep the floor  (P5)
    Core  0/2 done
      [ ] design  Design it
      [.] code  Write it  (waiting for design)
    Docs  0/1 done
      [.] docs  Describe it  (P4; waiting for code)
    $ punch start design
    [>] design  Design it
    $ punch tree --ascii
    [.] ship  Ship it  (P1; waiting for code)
    [ ] floor  Sweep the floor  (P5)
    Core  0/2 done
      [>] design  Design it  (yours)
      [.] code  Write it  (waiting for design)
    Docs  0/1 done
      [.] docs  Describe it  (P4; waiting for code)
    $ punch status
    main: 0 of 5 done (0%)
    In progress  [>] design  Design it  (yours; punch show design)
    Next         [ ] floor  Sweep the floor  (P5; punch start floor)
    No agent is connected: `punch install` connects the ones you use
    $ punch status --ascii
    main: 0 of 5 done (0%)
    In progress  [>] design  Design it  (yours; punch show design)
    Next         [ ] floor  Sweep the floor  (P5; punch start floor)
    No agent is connected: `punch install` connects the ones you use
    $ punch status --json
    {"schema":1,"completed":0,"total":5,"percent":0,"inProgress":"design","inProgressAll":["design"],"open":5,"failedCount":0,"next":null,"failed":[],"stuck":[],"held":[],"keepGoing":[],"inbox":0}
    "#);
}

#[test]
fn lists_are_objects_in_the_extended_format() {
    let world = world();
    assert_eq!(ids(&world.json(&["ready"])), ["design", "floor"]);
    let list = world.json(&["list"]);
    assert_eq!(ids(&list), ["design", "code", "docs", "ship", "floor"]);
    let code = &list["todos"][1];
    assert_eq!(code["dependsOn"], serde_json::json!(["design"]));
    assert_eq!(code["blocks"], serde_json::json!(["docs", "ship"]));
    assert_eq!((&code["priority"], &code["effectivePriority"]), (&3.into(), &1.into()));
    assert_eq!(world.json(&["show", "docs"])["todo"]["content"], "Describe it");
    assert_eq!(world.json(&["next"])["todo"]["id"], "design");
    let empty = World::new();
    assert_eq!(empty.json(&["next"]), serde_json::json!({"schema": 1, "todo": null}));
    assert_eq!(empty.json(&["list"]), serde_json::json!({"schema": 1, "todos": []}));
}

#[test]
fn a_limit_of_nothing_does_not_claim_that_nothing_is_open() {
    assert_eq!(world().ok(&["list", "--limit", "0"]), "`--limit 0` shows none of 5 open todos.\n");
}

/// More todos than any view shows rows.
#[test]
fn counts_are_those_of_all_todos_however_few_are_shown() {
    let world = World::new();
    let lines: String = (1..=450).map(|n| format!("Todo {n}\n")).collect();
    assert_eq!(world.feed(&["add"], &lines).exit, Some(0));
    world.ok(&["done", "T-1"]);
    assert!(world.ok(&["status"]).starts_with("main: 1 of 450 done (0%)\n"));
    assert!(world.ok(&["status", "--line"]).starts_with("1/450"));
    let status = world.json(&["status"]);
    assert_eq!((&status["completed"], &status["total"], &status["open"]), (&1.into(), &450.into(), &449.into()));
    assert!(world.ok(&["plan", "list"]).contains("1 of 450 done"));
}
