//! The verbs that change todos, as the user meets them.

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
    "), @r#"
    $ punch add 'Write the parser' 'Test the parser'
    [ ] T-1  Write the parser
    [ ] T-2  Test the parser
    2> note: created a store in `$ROOT/p/.punch`, because this is not a git repository; folders below use it too
    $ punch add Release --id release --needs T-1 --needs 'test the' --priority 1 --phase Ship
    [.] release  Release
      needs: T-1  Write the parser
      needs: T-2  Test the parser
    $ punch add First --first --complexity small --tokens 500 --criteria 'it works' --verify 'true' --files 'src/**'
    [ ] T-3  First
    $ punch add Again --id release
    2> error: id `release` is already in use
    2> hint: choose another id, or leave it out to get the next free one
    exit 1
    $ punch add x --needs nobody
    2> error: no todo `nobody`
    2> hint: `punch list` shows the ids; add the missing todo first, or leave the dependency out
    exit 1
    $ punch add ''
    2> error: a todo needs a text
    2> hint: say what to do: `punch add 'Write the parser'`
    exit 2
    $ punch add x --priority 9
    2> error: invalid value '9' for '--priority <1-5>': use a number from 1 to 5, or urgent, high, medium, low, lowest
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch add x --complexity huge
    2> error: invalid value 'huge' for '--complexity <SIZE>': use trivial, small, medium, large or epic
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch add a b --id both
    2> error: --id works with a single todo
    2> hint: add them one by one
    exit 2
    $ punch add loop --needs loop
    2> error: no todo `loop`
    2> hint: `punch list` shows the ids; add the missing todo first, or leave the dependency out
    exit 1
    $ punch add
    2> error: nothing to add
    2> hint: `punch add 'What to do'`, or one todo per line on standard input
    exit 2
    $ punch list
    [ ] T-3  First
    [ ] T-1  Write the parser
    [ ] T-2  Test the parser
    [.] release  Release  (P1; waiting for T-1, T-2)
    "#);
}

#[test]
fn add_reads_one_todo_per_line_from_standard_input() {
    let world = World::new();
    assert_snapshot!(world.hide_paths(&world.feed(&["add", "-", "--phase", "P"], "  one \n\n two\r\nthree").render()), @r#"
    exit 0
    --- stdout
    [ ] T-1  one
    [ ] T-2  two
    [ ] T-3  three
    --- stderr
    note: created a store in `$ROOT/p/.punch`, because this is not a git repository; folders below use it too
    "#);
    assert_snapshot!(world.feed(&["add", "-"], "\n \n").render(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: nothing to add
    hint: `punch add 'What to do'`, or one todo per line on standard input
    "#);
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
    ")), @r#"
    $ punch start code
    2> error: `code` is blocked by `design` (ready)
    2> hint: finish `design` first; `punch why code` shows the whole chain
    exit 1
    $ punch start design
    [>] design  Design it
    $ punch done docs
    2> error: `docs` is blocked by `code` (waiting)
    2> hint: finish `code` first; `punch why docs` shows the whole chain
    exit 1
    $ punch done design
    [x] design  Design it
    ready now: code  Write it
    $ punch done design
    [x] design  Design it
    Nothing changed: already done.
    $ punch start 'write it'
    [>] code  Write it
    $ punch done code --evidence 'cargo test passes'
    [x] code  Write it
    ready now: docs  Describe it
    $ punch done nobody
    2> error: no todo `nobody`
    2> hint: `punch list --all` shows every todo, closed ones included; `punch log` names archived ones
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
    2> hint: run `punch reopen docs` first
    exit 1
    $ punch reopen docs
    [ ] docs  Describe it
    $ punch start docs --owner alice
    [>] docs  Describe it
    $ punch done docs --owner bob
    2> error: `docs` is claimed by `alice` until TIME
    2> hint: no other todo is ready; wait until the claim ends
    exit 1
    $ punch done docs --owner alice
    [x] docs  Describe it
    $ punch status
    main: 3 of 3 done (100%)
    Finished     [x] the plan `main` is finished: 3 of 3 done  (punch log --new)
    No agent is connected: `punch install` connects the ones you use
    "#);
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
    "), @r#"
    $ punch drop design
    [-] design  Design it
    note: code can no longer start: design is cancelled
    $ punch list --all
    [-] design  Design it
    [#] code  Write it  (stuck behind design, which is cancelled)
    [.] docs  Describe it  (waiting for code)
    $ punch reopen design
    [ ] design  Design it
    $ punch fail design --error 'no compiler'
    [ ] design  Design it
      error: no compiler
    attempt 1 of 2 failed; 1 attempt left
    $ punch fail design --error 'still none'
    [!] design  Design it
      error: still none
    note: code can no longer start: design failed
    failed after 2 attempts
    $ punch show design
    [!] design  Design it
      blocks: code  Write it
      last error: still none
      attempts: 2 failed
      times: added a moment ago, finished a moment ago
      earlier error: no compiler
    $ punch reopen design
    [ ] design  Design it
    $ punch drop nobody
    2> error: no todo `nobody`
    2> hint: `punch list --all` shows every todo, closed ones included; `punch log` names archived ones
    exit 1
    "#);
}

#[test]
fn hold_and_release_let_a_todo_wait() {
    assert_snapshot!(world().script(r"
        hold design 'which color?'
        list
        start design
        release design
        hold design 'rate limit' --kind timer
        hold design 'rate limit' --for 10y
        hold design 'rate limit' --kind job --for 10m
        hold design x --kind nonsense
        release design
        start design
    "), @r#"
    $ punch hold design 'which color?'
    [|] design  Design it
      on hold: which color?
    $ punch list
    [|] design  Design it  (on hold: which color?)
    [.] code  Write it  (waiting for design)
    [.] docs  Describe it  (waiting for code)
    $ punch start design
    2> error: `design` is on hold: which color?
    2> hint: `punch unhold design` takes it off hold
    exit 1
    $ punch release design
    [ ] design  Design it
      no longer on hold
    ready now: design
    $ punch hold design 'rate limit' --kind timer
    2> error: `--kind timer` needs `--for`, for example `--for 10m`
    2> hint: `punch hold --help` shows examples
    exit 2
    $ punch hold design 'rate limit' --for 10y
    2> error: invalid duration `10y`
    2> hint: write a number with ms, s, m, h or d: `90s`, `15m`, `1h30m`
    exit 2
    $ punch hold design 'rate limit' --kind job --for 10m
    2> error: `--for` needs `--kind timer`, not `job`
    2> hint: `punch hold --help` shows examples
    exit 2
    $ punch hold design x --kind nonsense
    2> error: invalid value 'nonsense' for '--kind <KIND>': use one of human, external, timer, job, other, parked, conflict
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch release design
    [ ] design  Design it
    $ punch start design
    [>] design  Design it
    "#);
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
    "), @r#"
    $ punch note design the flag is called --frozen
    [ ] design  Design it
      note: the flag is called --frozen
    $ punch move docs --first
    [.] docs  Describe it
      moved to the beginning
    $ punch move design --after nobody
    2> error: no todo `nobody`
    2> hint: `punch list` shows the ids
    exit 1
    $ punch move code --before docs
    [.] code  Write it
      moved before docs
    $ punch list
    [.] code  Write it  (waiting for design)
    [.] docs  Describe it  (waiting for code)
    [ ] design  Design it
    $ punch rm code
    archived: code  Write it
    ready now: docs  Describe it
    note: `code` was still open; `docs` no longer waits for it
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
    2> hint: `punch list --tree` shows the phases
    exit 1
    $ punch rm --all
    2 todos archived; `punch undo` brings them back
    $ punch list
    No todos yet: `punch add 'First thing'` adds one.
    $ punch list --all
    No todos yet: `punch add 'First thing'` adds one.
    "#);
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
    {"schema":1,"error":{"code":"not_ready","message":"`docs` is blocked by `code` (waiting)","hint":"finish `code` first; `punch why docs` shows the whole chain"}}
    --- stderr
    "#);
    assert_eq!(world.refused(&["show", "nobody"]), (1, "unknown_todo".into()));
    assert_eq!(world.refused(&["list", "--plan", "nobody"]), (1, "unknown_plan".into()));
}

#[test]
fn a_parked_todo_stays_in_the_list_and_is_no_open_work() {
    let world = World::new();
    assert_snapshot!(world.script(r"
        add One Two Three
        done T-1
        hold T-2 --kind parked
        hold T-3 'after the release' --kind parked
        list
        next
        ready
        status
        plan list
        start T-2
        release T-2
        next
        hold T-2
        hold T-2 --kind external
    "), @r#"
    $ punch add One Two Three
    [ ] T-1  One
    [ ] T-2  Two
    [ ] T-3  Three
    2> note: created a store in `$ROOT/p/.punch`, because this is not a git repository; folders below use it too
    $ punch done T-1
    [x] T-1  One
    $ punch hold T-2 --kind parked
    [_] T-2  Two
      parked
    $ punch hold T-3 'after the release' --kind parked
    [_] T-3  Three
      parked: after the release
    $ punch list
    [_] T-2  Two  (parked)
    [_] T-3  Three  (parked: after the release)
    $ punch next
    Nothing is open.
    $ punch ready
    Nothing is open.
    $ punch status
    main: 1 of 1 done (100%)
    No agent is connected: `punch install` connects the ones you use
    $ punch plan list
    * main  1 of 1 done, 2 parked  revision 4  (in use here, default)
    $ punch start T-2
    2> error: `T-2` is parked
    2> hint: `punch unhold T-2` takes it off hold
    exit 1
    $ punch release T-2
    [ ] T-2  Two
      no longer parked
    ready now: T-2
    $ punch next
    [ ] T-2  Two
    $ punch hold T-2
    2> error: the following required arguments were not provided:
    2>   <REASON>
    2>
    2> Usage: punch hold <TODO> <REASON>
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch hold T-2 --kind external
    2> error: reason: missing or empty; say what it waits for
    2> hint: fix that value and try again; nothing was changed
    exit 1
    "#);
    world.sound();
}
