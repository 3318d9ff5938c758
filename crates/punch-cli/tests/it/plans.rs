//! `plan`: many plans in one store.

use insta::assert_snapshot;
use serde_json::json;

use crate::world::World;

#[test]
fn plans_are_made_chosen_renamed_and_put_away() {
    let world = World::new();
    assert_snapshot!(world.script(r"
        plan
        plan list --json
        plan use x
        add one two
        plan new 'Release 2'
        plan list
        add three
        list
        done three
        plan use main
        list
        list --plan 'Release 2' --all
        plan rename 'Release 2' r2
        plan list
        plan archive r2
        plan list
        plan use r2
        plan archive r2 --undo
        plan new spare --no-use
        plan list
    "), @r#"
    $ punch plan
    No plans yet: `punch add` creates one.
    $ punch plan list --json
    {"schema":1,"plans":[]}
    $ punch plan use x
    2> error: no plan `x`
    2> hint: `punch plan list` shows the plans, `punch plan new NAME` creates one
    exit 1
    $ punch add one two
    [ ] T-1  one
    [ ] T-2  two
    2> note: created a store in `$ROOT/p/.punch`, because this is not a git repository; folders below use it too
    $ punch plan new 'Release 2'
    Created plan `Release 2` and switched to it
    $ punch plan list
      main       0 of 2 done  revision 1  (default)
    * Release 2  0 of 0 done  revision 0  (in use here)
    $ punch add three
    [ ] T-1  three
    $ punch list
    [ ] T-1  three
    $ punch done three
    [x] T-1  three
    $ punch plan use main
    Switched to plan `main`
    $ punch list
    [ ] T-1  one
    [ ] T-2  two
    $ punch list --plan 'Release 2' --all
    [x] T-1  three
    $ punch plan rename 'Release 2' r2
    Renamed the plan to `r2`
    $ punch plan list
    * main  0 of 2 done  revision 1  (in use here, default)
      r2    1 of 1 done  revision 2
    $ punch plan archive r2
    Archived plan `r2`
    $ punch plan list
    * main  0 of 2 done  revision 1  (in use here, default)
      r2    1 of 1 done  revision 2  (archived)
    $ punch plan use r2
    2> error: the plan `r2` is archived
    2> hint: run `punch plan archive r2 --undo` to bring it back
    exit 1
    $ punch plan archive r2 --undo
    Brought plan `r2` back
    $ punch plan new spare --no-use
    Created plan `spare`
    $ punch plan list
    * main   0 of 2 done  revision 1  (in use here, default)
      r2     1 of 1 done  revision 2
      spare  0 of 0 done  revision 0
    "#);
    world.sound();
}

#[test]
fn bad_names_are_refused() {
    let world = World::new();
    world.ok(&["add", "one"]);
    assert_snapshot!(world.script(r"
        plan new main
        plan new ''
        plan new ' x'
        plan rename main main
        plan rename nobody x
        plan use mian
        plan archive
        plan remove main
        plan new other --no-use
        plan rename other main
    "), @r#"
    $ punch plan new main
    2> error: a plan named `main` already exists
    2> hint: choose another name, switch to it with `punch plan use main`, or rename it with `punch plan rename main NAME`
    exit 1
    $ punch plan new ''
    2> error: the name of a plan: must be 1 to 100 characters on one line, with no spaces at the ends
    2> hint: fix that value and try again; nothing was changed
    exit 1
    $ punch plan new ' x'
    2> error: the name of a plan: must be 1 to 100 characters on one line, with no spaces at the ends
    2> hint: fix that value and try again; nothing was changed
    exit 1
    $ punch plan rename main main
    Renamed the plan to `main`
    $ punch plan rename nobody x
    2> error: no plan `nobody`
    2> hint: `punch plan list` shows the plans, `punch plan new NAME` creates one
    exit 1
    $ punch plan use mian
    2> error: no plan `mian` (did you mean `main`?)
    2> hint: `punch plan list` shows the plans, `punch plan new NAME` creates one
    exit 1
    $ punch plan archive
    2> error: the following required arguments were not provided:
    2>   <PLAN>
    2>
    2> Usage: punch plan archive <PLAN>
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch plan remove main
    2> error: unrecognized subcommand 'remove'
    2>
    2> Usage: punch plan [COMMAND]
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch plan new other --no-use
    Created plan `other`
    $ punch plan rename other main
    2> error: a plan named `main` already exists
    2> hint: choose another name, switch to it with `punch plan use main`, or rename it with `punch plan rename main NAME`
    exit 1
    "#);
    assert_eq!(world.refused(&["plan", "new", "main"]), (1, "plan_exists".to_owned()));
    assert_eq!(world.refused(&["plan", "new", "a\nb"]), (1, "invalid".to_owned()));
    assert_eq!(world.refused(&["plan", "use", "nobody"]), (1, "unknown_plan".to_owned()));
}

#[test]
fn an_archived_plan_comes_back_or_the_answer_says_why_not() {
    let world = World::new();
    world.ok(&["add", "old"]);
    world.ok(&["plan", "archive", "main"]);
    world.ok(&["add", "new"]);
    assert_eq!(world.refused(&["plan", "archive", "main", "--undo"]), (1, "plan_exists".to_owned()));
    world.ok(&["plan", "rename", "main", "later"]);
    world.ok(&["plan", "archive", "main", "--undo"]);
    assert!(world.ok(&["list", "--plan", "main"]).contains("old"));
}

#[test]
fn a_name_of_an_archived_plan_is_free() {
    let world = World::new();
    world.ok(&["plan", "new", "a"]);
    world.ok(&["add", "old"]);
    world.ok(&["plan", "archive", "a"]);
    world.ok(&["plan", "new", "a"]);
    world.ok(&["add", "new"]);
    assert_snapshot!(world.script(r"
        plan list
        plan archive a
        plan archive a --undo
        list
    "), @r#"
    $ punch plan list
      a  0 of 1 done  revision 1  (archived)
    * a  0 of 1 done  revision 1  (in use here)
    $ punch plan archive a
    Archived plan `a`
    $ punch plan archive a --undo
    Brought plan `a` back
    $ punch list
    [ ] T-1  new
    "#);
}

#[test]
fn every_worktree_chooses_for_itself() {
    let world = World::with_git();
    world.ok(&["add", "one"]);
    world.git(&["worktree", "add", "-q", "../other"]);
    let other = |arguments: &[&str]| {
        let output = world.command(arguments).current_dir(world.root.join("other")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    other(&["plan", "new", "side"]);
    other(&["add", "two"]);
    assert_eq!(other(&["list"]), "[ ] T-1  two\n");
    assert_eq!(world.ok(&["list"]), "[ ] T-1  one\n");
}

#[test]
fn an_argument_goes_before_the_choice_and_says_so() {
    let world = World::new();
    world.ok(&["add", "one"]);
    let run = world.punch(&["plan", "new", "side", "--plan", "main"]);
    assert_eq!(run.exit, Some(0));
    assert_eq!(run.stderr, "note: `--plan` or PUNCH_PLAN names `main`, which takes precedence over `plan use`\n");
    let plan = &world.json(&["plan", "new", "third"])["plan"];
    assert_eq!((&plan["name"], &plan["used"], &plan["total"]), (&json!("third"), &json!(true), &json!(0)));
}
