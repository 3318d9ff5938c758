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
No plans. `punch add` makes one.
$ punch plan list --json
{"schema":1,"plans":[]}
$ punch plan use x
2> error: no plan `x`
2> hint: `punch plan list` names the plans, `punch plan new NAME` makes one
exit 1
$ punch add one two
[ ] T-1  one
[ ] T-2  two
$ punch plan new 'Release 2'
`Release 2` is made and used here
$ punch plan list
  main       2/2 open  revision 1  (default)
* Release 2  0/0 open  revision 0  (in use here)
$ punch add three
[ ] T-1  three
$ punch list
[ ] T-1  three
$ punch done three
[x] T-1  three
$ punch plan use main
`main` is used here
$ punch list
[ ] T-1  one
[ ] T-2  two
$ punch list --plan 'Release 2' --all
[x] T-1  three
$ punch plan rename 'Release 2' r2
`r2` is its name now
$ punch plan list
* main  2/2 open  revision 1  (in use here, default)
  r2    0/1 open  revision 2
$ punch plan archive r2
`r2` is archived
$ punch plan list
* main  2/2 open  revision 1  (in use here, default)
  r2    0/1 open  revision 2  (archived)
$ punch plan use r2
2> error: the plan `r2` is archived
2> hint: `punch plan archive r2 --undo` puts it back into use
exit 1
$ punch plan archive r2 --undo
`r2` is back in use
$ punch plan new spare --no-use
`spare` is made
$ punch plan list
* main   2/2 open  revision 1  (in use here, default)
  r2     0/1 open  revision 2
  spare  0/0 open  revision 0
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
2> error: a plan `main` exists already
2> hint: choose another name, or `punch plan use main`
exit 1
$ punch plan new ''
2> error: the name of a plan: has 1 to 100 characters on one line, no space at its ends
2> hint: correct the named place and send the whole call again; nothing was changed
exit 1
$ punch plan new ' x'
2> error: the name of a plan: has 1 to 100 characters on one line, no space at its ends
2> hint: correct the named place and send the whole call again; nothing was changed
exit 1
$ punch plan rename main main
`main` is its name now
$ punch plan rename nobody x
2> error: no plan `nobody`
2> hint: `punch plan list` names the plans, `punch plan new NAME` makes one
exit 1
$ punch plan use mian
2> error: no plan `mian` (nearest: `main`)
2> hint: `punch plan list` names the plans, `punch plan new NAME` makes one
exit 1
$ punch plan archive
2> error: the following required arguments were not provided:
2>   <NAME>
2>
2> Usage: punch plan archive <NAME>
2>
2> For more information, try '--help'.
exit 2
$ punch plan remove main
2> error: unrecognized subcommand 'remove'
2>
2>   tip: a similar subcommand exists: 'rename'
2>
2> Usage: punch plan [OPTIONS] [COMMAND]
2>
2> For more information, try '--help'.
exit 2
$ punch plan new other --no-use
`other` is made
$ punch plan rename other main
2> error: a plan `main` exists already
2> hint: choose another name, or `punch plan use main`
exit 1
"#);
    assert_eq!(world.refused(&["plan", "new", "main"]), (1, "plan_exists".to_owned()));
    assert_eq!(world.refused(&["plan", "new", "a\nb"]), (1, "invalid".to_owned()));
    assert_eq!(world.refused(&["plan", "use", "nobody"]), (1, "unknown_plan".to_owned()));
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
  a  1/1 open  revision 1  (archived)
* a  1/1 open  revision 1  (in use here)
$ punch plan archive a
`a` is archived
$ punch plan archive a --undo
`a` is back in use
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
    assert_eq!(run.stderr, "note: --plan or PUNCH_PLAN says `main`, which goes before `plan use`\n");
    let plan = &world.json(&["plan", "new", "third"])["plan"];
    assert_eq!((&plan["name"], &plan["used"], &plan["total"]), (&json!("third"), &json!(true), &json!(0)));
}
