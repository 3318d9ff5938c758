//! The verbs that change todos, as a person meets them.

use insta::assert_snapshot;

use crate::world::{World, calm, ids};

/// A plan with dependencies: `docs` waits for `code`, which waits for `design`.
fn world() -> World {
    let world = World::new();
    world.ok(&["add", "Design it", "--id", "design"]);
    world.ok(&["add", "Write it", "--id", "code", "--needs", "design"]);
    world.ok(&["add", "Describe it", "--id", "docs", "--needs", "code"]);
    world
}

#[test]
fn add_makes_todos() {
    let world = World::new();
    assert_snapshot!(world.script(r"
        add 'Write the parser' 'Test the parser'
        add Release --id release --needs T-1 --needs 'test the' --priority 1 --phase Ship
        add First --first --complexity small --tokens 500 --criteria 'it works' --verify 'true' --files 'src/**'
        add Again --id release
        add x --needs nobody
        add ''
        add x --priority 9
        add x --complexity huge
        add a b --id both
        add loop --needs loop
        add
        list
    "), @r"
    $ punch add 'Write the parser' 'Test the parser'
    [ ] T-1  Write the parser
    [ ] T-2  Test the parser
    $ punch add Release --id release --needs T-1 --needs 'test the' --priority 1 --phase Ship
    [.] release  Release
    $ punch add First --first --complexity small --tokens 500 --criteria 'it works' --verify 'true' --files 'src/**'
    [ ] T-3  First
    $ punch add Again --id release
    2> error: id `release` is used more than once
    2> hint: give every todo its own id
    exit 1
    $ punch add x --needs nobody
    2> error: `T-4` depends on `nobody`, which does not exist
    2> hint: add the missing todo in the same batch, or leave the dependency out
    exit 1
    $ punch add ''
    2> error: content: must not be empty
    2> hint: correct the named place and send the whole call again; nothing was changed
    exit 1
    $ punch add x --priority 9
    2> error: priority: 9 is not between 1 and 5
    2> hint: correct the named place and send the whole call again; nothing was changed
    exit 1
    $ punch add x --complexity huge
    2> error: complexity: `huge` is none of trivial, small, medium, large, epic
    2> hint: correct the named place and send the whole call again; nothing was changed
    exit 1
    $ punch add a b --id both
    2> error: --id names one todo, several were given
    2> hint: add them one by one
    exit 2
    $ punch add loop --needs loop
    2> error: `T-4` depends on `loop`, which does not exist
    2> hint: add the missing todo in the same batch, or leave the dependency out
    exit 1
    $ punch add
    2> error: the following required arguments were not provided:
    2>   <CONTENT>...
    2>
    2> Usage: punch add <CONTENT>...
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch list
    [ ] T-3  First
    [ ] T-1  Write the parser
    [ ] T-2  Test the parser
    [.] release  Release  (P1; waits for T-1, T-2)
    ");
}

#[test]
fn add_reads_one_todo_per_line_from_standard_input() {
    let world = World::new();
    assert_snapshot!(world.feed(&["add", "-", "--phase", "P"], "  one \n\n two\r\nthree").render(), @r"
    exit 0
    --- stdout
    [ ] T-1  one
    [ ] T-2  two
    [ ] T-3  three
    --- stderr
    ");
    assert_snapshot!(world.feed(&["add", "-"], "\n \n").render(), @r"
    exit 2
    --- stdout
    --- stderr
    error: nothing to add: standard input has no lines
    hint: give one todo per line
    ");
}

#[test]
fn start_and_done_follow_the_dependencies() {
    assert_snapshot!(calm(&world().script(r"
        start code
        start design
        done docs
        done design
        done design
        start 'write it'
        done code --evidence 'cargo test passes'
        done nobody
        done it
        done
        start docs --owner alice
        reopen docs
        start docs --owner alice
        done docs --owner bob
        done docs --owner alice
        status
    ")), @r"
    $ punch start code
    2> error: `code` waits for `design` (pending)
    2> hint: finish `design` first; `punch why code` tells more
    exit 1
    $ punch start design
    [>] design  Design it
    $ punch done docs
    2> error: `docs` waits for `code` (pending)
    2> hint: finish `code` first; `punch why docs` tells more
    exit 1
    $ punch done design
    [x] design  Design it
    ready now: code
    $ punch done design
    [x] design  Design it
    $ punch start 'write it'
    [>] code  Write it
    $ punch done code --evidence 'cargo test passes'
    [x] code  Write it
    ready now: docs
    $ punch done nobody
    2> error: no todo `nobody`
    2> hint: `punch list --all` shows every todo
    exit 1
    $ punch done it
    [x] docs  Describe it
    $ punch done
    2> error: the following required arguments were not provided:
    2>   <TODO>...
    2>
    2> Usage: punch done <TODO>...
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch start docs --owner alice
    2> error: cannot start `docs`: it is completed
    2> hint: `punch reopen docs` first
    exit 1
    $ punch reopen docs
    [ ] docs  Describe it
    $ punch start docs --owner alice
    [>] docs  Describe it
    $ punch done docs --owner bob
    2> error: `docs` is claimed by `alice` until TIME
    2> hint: nothing else is free: wait until the claim ends
    exit 1
    $ punch done docs --owner alice
    [x] docs  Describe it
    $ punch status
    [x] Design it  [x] Write it  [x] Describe it  (3/3)
    ");
}

#[test]
fn drop_fail_and_reopen_end_and_begin_again() {
    assert_snapshot!(world().script(r"
        drop design
        list --all
        reopen design
        fail design --error 'no compiler'
        fail design --error 'still none'
        show design
        reopen design
        drop nobody
    "), @r"
    $ punch drop design
    [-] design  Design it
    $ punch list --all
    [-] design  Design it
    [.] code  Write it  (waits for design)
    [.] docs  Describe it  (waits for code)
    $ punch reopen design
    [ ] design  Design it
    $ punch fail design --error 'no compiler'
    [!] design  Design it
    $ punch fail design --error 'still none'
    [!] design  Design it
    $ punch show design
    [!] design  Design it
      blocks: code
      last error: no compiler
    $ punch reopen design
    [ ] design  Design it
    $ punch drop nobody
    2> error: no todo `nobody`
    2> hint: `punch list --all` shows every todo
    exit 1
    ");
}

#[test]
fn hold_and_release_let_a_todo_wait() {
    assert_snapshot!(world().script(r"
        hold design 'which colour?'
        list
        start design
        release design
        hold design 'rate limit' --kind timer
        hold design 'rate limit' --kind timer --for 10y
        hold design x --kind nonsense
        release design
        start design
    "), @r"
    $ punch hold design 'which colour?'
    [.] design  Design it
    $ punch list
    [.] design  Design it  (on hold: which colour?)
    [.] code  Write it  (waits for design)
    [.] docs  Describe it  (waits for code)
    $ punch start design
    2> error: `design` waits for its hold (which colour?)
    2> hint: `punch release design` ends the hold
    exit 1
    $ punch release design
    [ ] design  Design it
    ready now: design
    $ punch hold design 'rate limit' --kind timer
    2> error: until: a timer, and only a timer, has an end (milliseconds)
    2> hint: correct the named place and send the whole call again; nothing was changed
    exit 1
    $ punch hold design 'rate limit' --kind timer --for 10y
    2> error: `10y` is no time
    2> hint: write a number with ms, s, m, h or d: `90s`, `15m`, `1h30m`
    exit 2
    $ punch hold design x --kind nonsense
    2> error: kind: `nonsense` is none of human, external, timer, job, other
    2> hint: correct the named place and send the whole call again; nothing was changed
    exit 1
    $ punch release design
    [ ] design  Design it
    $ punch start design
    [>] design  Design it
    ");
}

#[test]
fn rm_note_and_move_edit_the_list() {
    assert_snapshot!(world().script(r"
        note design the flag is called --frozen
        move docs --first
        move design --after nobody
        move code --before docs
        list
        rm code
        list
        rm
        rm --all --phase P
        rm --phase nowhere
        rm --all
        list
        list --all
    "), @r"
    $ punch note design the flag is called --frozen
    [ ] design  Design it
    $ punch move docs --first
    [.] docs  Describe it
    $ punch move design --after nobody
    2> error: no todo `nobody`
    2> hint: use an id from the list, for example from `punch list`
    exit 1
    $ punch move code --before docs
    [.] code  Write it
    $ punch list
    [.] code  Write it  (waits for design)
    [.] docs  Describe it  (waits for code)
    [ ] design  Design it
    $ punch rm code
    archived: code  Write it
    ready now: docs
    note: `code` was open; `docs` no longer wait for it
    $ punch list
    [ ] docs  Describe it
    [ ] design  Design it
    $ punch rm
    2> error: the following required arguments were not provided:
    2>   <TODO>...
    2>
    2> Usage: punch rm <TODO>...
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch rm --all --phase P
    2> error: the argument '--all' cannot be used with '--phase <PHASE>'
    2>
    2> Usage: punch rm --all [TODO]...
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch rm --phase nowhere
    2> error: no phase `nowhere`
    2> hint: use a phase from `punch tree`
    exit 1
    $ punch rm --all
    2 todos archived; `punch undo` brings them back
    $ punch list
    No todos. `punch add` makes one.
    $ punch list --all
    No todos. `punch add` makes one.
    ");
}

#[test]
fn a_change_answers_with_the_todo_what_it_unblocked_and_the_revision() {
    let world = world();
    let answer = world.json(&["done", "design"]);
    let fields: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["schema", "todo", "unblocked", "warnings", "revision"]);
    assert_eq!(answer["todo"]["status"], "completed");
    assert_eq!(answer["todo"]["blocks"], serde_json::json!(["code"]));
    assert_eq!(answer["unblocked"], serde_json::json!(["code"]));
    assert_eq!(answer["revision"], 4);
    let two = world.json(&["add", "a", "b"]);
    assert_eq!(ids(&two), ["T-1", "T-2"]);
    assert_eq!(two["todo"]["id"], "T-1");
}

#[test]
fn a_refusal_is_one_object_on_standard_output_with_exit_code_1() {
    let world = world();
    let run = world.punch(&["done", "docs", "--json"]);
    assert_snapshot!(run.render(), @r#"
    exit 1
    --- stdout
    {"schema":1,"error":{"code":"not_ready","message":"`docs` waits for `code` (pending)","hint":"finish `code` first; `punch why docs` tells more"}}
    --- stderr
    "#);
    assert_eq!(world.refused(&["show", "nobody"]), (1, "unknown_todo".into()));
    assert_eq!(world.refused(&["list", "--plan", "nobody"]), (1, "unknown_plan".into()));
}
