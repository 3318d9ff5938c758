//! `edit`: fields of one todo, and the whole plan in an editor that is a script.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::punch::Run;
use crate::world::{World, calm, finished};

fn world() -> World {
    let world = World::new();
    world.ok(&["add", "Design it", "--id", "design", "--phase", "Core"]);
    world.ok(&["add", "Write it", "--id", "code", "--needs", "design", "--phase", "Core"]);
    world.ok(&["add", "Ship it", "--id", "ship", "--phase", "End"]);
    world
}

/// Runs a verb with an editor that runs these lines; `$1` is the file.
#[cfg(unix)]
fn edited(world: &World, arguments: &[&str], script: &str) -> Run {
    use std::os::unix::fs::PermissionsExt;
    let editor = world.root.join("my editor.sh");
    fs::write(&editor, format!("#!/bin/sh\nset -e\n{script}\n")).unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let quoted = format!("'{}'", editor.display());
    let temp = world.root.join("temp");
    fs::create_dir_all(&temp).unwrap();
    let mut command = world.command(arguments);
    finished(command.env("EDITOR", quoted).env("TMPDIR", &temp).env("PUNCH", crate::world::PUNCH).output().unwrap())
}

/// What a run printed, without what differs from run to run.
fn shown(world: &World, run: &Run) -> String {
    let text = world.hide_paths(&run.render());
    text.lines()
        .map(|line| match line.split_once("punch-edit-") {
            Some((before, after)) => {
                let after = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
                format!("{before}punch-edit{after}\n")
            }
            None => format!("{line}\n"),
        })
        .collect()
}

fn kept(world: &World) -> Vec<std::path::PathBuf> {
    let folders = fs::read_dir(world.root.join("temp")).unwrap().map(|entry| entry.unwrap().path());
    folders.map(|folder| folder.join("plan.md")).filter(|file| file.exists()).collect()
}

#[test]
fn fields_of_one_todo_are_changed() {
    assert_snapshot!(world().script(r"
        edit code --content 'Write it well' --priority 1 --tokens 500 --complexity large --criteria 'it runs'
        edit code --verify true --files 'src/**' --description 'at length' --active-form 'Writing it' --phase End
        show code
        edit code --clear tokens --clear description --clear files --clear phase --clear priority
        show code
        edit ship --add-needs code --add-needs design
        edit ship --drop-needs design
        show ship
        edit ship --needs design
        edit ship --clear needs
        edit ship --blocks design
        edit ship --new-id release
        list
    "), @r#"
$ punch edit code --content 'Write it well' --priority 1 --tokens 500 --complexity large --criteria 'it runs'
[.] code  Write it well
$ punch edit code --verify true --files 'src/**' --description 'at length' --active-form 'Writing it' --phase End
[.] code  Write it well
$ punch show code
[.] code  Write it well
  description: at length
  phase: End
  priority: 1
  size: large
  tokens: 500
  needs: design
  criteria: it runs
  verify: true
  files: src/**
$ punch edit code --clear tokens --clear description --clear files --clear phase --clear priority
[.] code  Write it well
$ punch show code
[.] code  Write it well
  size: large
  needs: design
  criteria: it runs
  verify: true
$ punch edit ship --add-needs code --add-needs design
[.] ship  Ship it
$ punch edit ship --drop-needs design
[.] ship  Ship it
$ punch show ship
[.] ship  Ship it
  phase: End
  needs: code
$ punch edit ship --needs design
[.] ship  Ship it
$ punch edit ship --clear needs
[ ] ship  Ship it
ready now: ship
$ punch edit ship --blocks design
[ ] ship  Ship it
$ punch edit ship --new-id release
[ ] release  Ship it
$ punch list
[.] design  Design it  (waits for release)
[.] code  Write it well  (waits for design)
[ ] release  Ship it
"#);
}

#[test]
fn editing_in_an_empty_project_names_what_is_missing() {
    assert_snapshot!(World::new().script("edit x --priority 1"), @r#"
$ punch edit x --priority 1
2> error: no todo `x`
2> hint: `punch list --all` shows every todo
exit 1
"#);
}

#[test]
fn a_missing_dependency_may_stay_and_may_be_dropped() {
    let world = World::new();
    world.feed(&["import", "-"], r#"[{"id":"a","content":"one","dependsOn":["gone"]},{"id":"b","content":"two"}]"#);
    assert_snapshot!(world.script(r"
        edit a --add-needs b
        edit a --drop-needs gone
        show a
    "), @r#"
$ punch edit a --add-needs b
[.] a  one
note: `a` waits for `gone`, which does not exist
$ punch edit a --drop-needs gone
[.] a  one
$ punch show a
[.] a  one
  needs: b
"#);
}

#[cfg(unix)]
#[test]
fn the_whole_plan_is_edited_as_markdown() {
    let world = world();
    let run = edited(&world, &["edit"], "cat \"$1\"; stat -c %a \"$1\" \"${1%/*}\"");
    assert_snapshot!(calm(&shown(&world, &run)), @r#"
exit 0
--- stdout
<!-- Change, tick, move, add or delete lines, then save and close. `- [ ] text` is a new todo; deleted ones are archived; notes (>) can only be added. -->

# Core

- [ ] Design it <!-- punch {"id":"design","createdAt":MS} -->
- [ ] Write it <!-- punch {"id":"code","dependsOn":["design"],"createdAt":MS} -->

# End

- [ ] Ship it <!-- punch {"id":"ship","createdAt":MS} -->
600
700
Nothing changed.
--- stderr
"#);
    assert!(kept(&world).is_empty());
    let script = r#"
        sed -i -e 's/Design it/Design it well/' -e 's/- \[ \] Ship/- [x] Ship/' -e '/Write it/d' "$1"
        sed -i -e 's/^# End/- [ ] Test it\n  > by hand\n\n# End/' "$1""#;
    assert_snapshot!(shown(&world, &edited(&world, &["edit"], script)), @r#"
exit 0
--- stdout
1 added, 2 changed, 1 archived
--- stderr
"#);
    assert_snapshot!(world.script("tree --all --expand\nundo\nlist --all"), @r#"
$ punch tree --all --expand
I. Core (0/2)
  ○ design Design it well
  ○ T-1 Test it ⁺¹
II. End (1/1)
  ✓ ship Ship it
$ punch undo
undid revision 4 by user: code archived; design content changed; ship completed; T-1 added: Test it
[ ] design  Design it
[.] code  Write it
[ ] ship  Ship it
archived: T-1  Test it
$ punch list --all
[ ] design  Design it
[.] code  Write it  (waits for design)
[ ] ship  Ship it
"#);
    assert!(kept(&world).is_empty());
    world.sound();
}

#[cfg(unix)]
#[test]
fn what_others_change_meanwhile_survives() {
    let world = world();
    let script = r#"
        "$PUNCH" done design > /dev/null
        "$PUNCH" edit ship --content 'Ship it soon' > /dev/null
        "$PUNCH" add 'Another one' > /dev/null
        sed -i -e 's/Write it/Write it down/' "$1""#;
    assert_snapshot!(shown(&world, &edited(&world, &["edit"], script)), @r#"
exit 0
--- stdout
1 changed
--- stderr
"#);
    assert_snapshot!(world.script("list --all"), @r#"
$ punch list --all
[x] design  Design it
[ ] code  Write it down
[ ] ship  Ship it soon
[ ] T-1  Another one
"#);
}

#[cfg(unix)]
#[test]
fn a_text_that_cannot_be_taken_over_is_kept_and_found_again() {
    let world = world();
    let script = r#"sed -i -e 's/- \[ \] Ship/- [?] Ship/' "$1"; echo 'junk' >> "$1"; echo '- [ ]' >> "$1""#;
    assert_snapshot!(shown(&world, &edited(&world, &["edit"], script)), @r#"
exit 1
--- stdout
--- stderr
your text is kept in $ROOT/temp/punch-edit/plan.md
`punch edit --again $ROOT/temp/punch-edit/plan.md` goes on with it
error: line 10: `[?]` is no marker; use [ ], [>], [x], [-] or [!]
line 12: the todo has no text
hint: correct the named place and send the whole call again; nothing was changed
"#);
    let file = kept(&world).pop().unwrap();
    assert!(fs::read_to_string(&file).unwrap().contains("junk"));
    let path = file.to_str().unwrap();
    let script = r#"sed -i -e 's/\[?\] Ship it/[x] Ship it now/' -e '/^junk/d' -e '/^- \[ \]$/d' "$1""#;
    assert_snapshot!(shown(&world, &edited(&world, &["edit", "--again", path], script)), @r#"
exit 0
--- stdout
1 changed
--- stderr
"#);
    assert!(!file.exists() && kept(&world).is_empty());
    assert_snapshot!(world.script("list --all"), @r#"
$ punch list --all
[ ] design  Design it
[.] code  Write it  (waits for design)
[x] ship  Ship it now
"#);
}

#[cfg(unix)]
#[test]
fn an_editor_that_fails_or_empties_the_file_changes_nothing() {
    let world = world();
    assert_snapshot!(shown(&world, &edited(&world, &["edit"], "exit 3")), @r#"
exit 2
--- stdout
--- stderr
your text is kept in $ROOT/temp/punch-edit/plan.md
`punch edit --again $ROOT/temp/punch-edit/plan.md` goes on with it
error: the editor `'$ROOT/my editor.sh'` ended with exit status: 3; nothing was changed
hint: end the editor normally to take the text over
"#);
    assert_snapshot!(shown(&world, &edited(&world, &["edit"], ": > \"$1\"")), @r#"
exit 2
--- stdout
--- stderr
your text is kept in $ROOT/temp/punch-edit/plan.md
`punch edit --again $ROOT/temp/punch-edit/plan.md` goes on with it
error: the text is empty; nothing was changed
hint: `punch rm --all` archives everything
"#);
    assert_snapshot!(shown(&world, &edited(&world, &["edit"], "printf '\\377' >> \"$1\"")), @r#"
exit 1
--- stdout
--- stderr
your text is kept in $ROOT/temp/punch-edit/plan.md
`punch edit --again $ROOT/temp/punch-edit/plan.md` goes on with it
error: $ROOT/temp/punch-edit/plan.md: not UTF-8 text (byte 408 is wrong)
hint: correct the named place and send the whole call again; nothing was changed
"#);
    let run = finished(world.command(&["edit"]).env("VISUAL", "no-such-editor").output().unwrap());
    assert_eq!(run.exit, Some(2), "{}", run.render());
    assert_eq!(world.ids(), ["design", "code", "ship"]);
}

#[cfg(unix)]
#[test]
fn an_empty_plan_is_begun_in_the_editor() {
    let world = World::new();
    let run = edited(&world, &["edit", "--json"], "echo '- [ ] First <!-- punch {\"id\":\"one\"} -->' >> \"$1\"");
    assert_eq!(
        run.stdout,
        "{\"schema\":1,\"added\":[\"one\"],\"changed\":[],\"archived\":[],\"warnings\":[],\"revision\":1}\n"
    );
    assert!(Path::new(&world.store()).exists());
}

#[test]
fn wrong_edits_are_refused() {
    assert_snapshot!(world().script(r"
        edit design
        edit --priority 2
        edit nobody --priority 2
        edit it --priority 2
        edit design --priority 9
        edit design --content ''
        edit design --new-id ship
        edit design --add-needs code
        edit design --add-needs nobody
        edit ship --drop-needs code
        edit ship --needs code --add-needs design
        edit ship --tokens 5 --clear tokens
        edit ship --clear colour
        edit
    "), @r"
    $ punch edit design
    2> error: nothing to change
    2> hint: give at least one field, see `punch edit --help`; `punch edit` alone edits the whole plan
    exit 2
    $ punch edit --priority 2
    2> error: fields are given, but no todo
    2> hint: name it: `punch edit T-3 …`
    exit 2
    $ punch edit nobody --priority 2
    2> error: no todo `nobody`
    2> hint: `punch list --all` shows every todo
    exit 1
    $ punch edit it --priority 2
    2> error: `it` fits 3 todos:
    2>   design  Design it
    2>   code  Write it
    2>   ship  Ship it
    2> hint: name it by its id
    exit 1
    $ punch edit design --priority 9
    2> error: priority: 9 is not between 1 and 5
    2> hint: correct the named place and send the whole call again; nothing was changed
    exit 1
    $ punch edit design --content ''
    2> error: content: must not be empty
    2> hint: correct the named place and send the whole call again; nothing was changed
    exit 1
    $ punch edit design --new-id ship
    2> error: id `ship` is used more than once
    2> hint: give every todo its own id
    exit 1
    $ punch edit design --add-needs code
    2> error: dependencies form a cycle: design -> code -> design
    2> hint: drop one dependency on this path
    exit 1
    $ punch edit design --add-needs nobody
    2> error: no todo `nobody`
    2> hint: `punch list --all` shows every todo
    exit 1
    $ punch edit ship --drop-needs code
    2> error: --drop-needs: it does not depend on `code`
    2> hint: correct the named place and send the whole call again; nothing was changed
    exit 1
    $ punch edit ship --needs code --add-needs design
    2> error: the argument '--needs <TODO>' cannot be used with '--add-needs <TODO>'
    2>
    2> Usage: punch edit --needs <TODO> <TODO>
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch edit ship --tokens 5 --clear tokens
    2> error: a field is both given and cleared
    2> hint: say one of the two
    exit 2
    $ punch edit ship --clear colour
    2> error: invalid value 'colour' for '--clear <FIELD>'
    2>   [possible values: needs, phase, priority, complexity, tokens, criteria, verify, files, description, active-form]
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch edit
    2> error: there is no editor
    2> hint: set VISUAL or EDITOR, or use `punch export` and `punch import`
    exit 2
    ");
}

#[cfg(unix)]
#[test]
fn rules_hold_for_what_is_edited() {
    let world = world();
    let refused = |script: &str| {
        let run = edited(&world, &["edit"], script);
        assert_eq!(run.exit, Some(1), "{}", run.render());
        let lines = run.stderr.lines().filter(|line| line.starts_with("error"));
        lines.map(|line| line.to_owned() + "\n").collect::<String>()
    };
    let long = format!("echo '- [ ] {}' >> \"$1\"", "x".repeat(600));
    assert_snapshot!([
        refused(r#"sed -i 's/- \[ \] Write/- [x] Write/' "$1""#),
        refused(r#"sed -i 's/"dependsOn":\["design"\]/"dependsOn":["desing"]/' "$1""#),
        refused(r#"sed -i 's/- \[ \]/- [>]/' "$1""#),
        refused(&long),
        refused(r#"echo some words >> "$1""#),
        refused(r#"sed -i 's/"id":"ship"/"id":"ship","dependsOn":["code"]/; s/"id":"design"/"id":"design","dependsOn":["ship"]/' "$1""#),
    ].concat(), @r"
    error: `code` waits for `design` (pending)
    error: `code` depends on `desing`, which does not exist (nearest: `design`)
    error: cannot start `code` while `design` is in progress
    error: content has 600 characters, the limit is 500
    error: not understood: line 11; write todos as `- [ ] text`, notes as `  > text`
    error: dependencies form a cycle: ship -> code -> design -> ship
    ");
    assert_eq!(kept(&world).len(), 6);
    // Ticking a chain in one go is fine, whatever the order of its lines.
    assert_eq!(edited(&world, &["edit"], r#"sed -i 's/- \[ \]/- [x]/' "$1""#).exit, Some(0));
    assert_eq!(world.json(&["status"])["completed"], 3);
}
