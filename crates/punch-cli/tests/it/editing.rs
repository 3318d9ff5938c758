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
      text: Write it -> Write it well
      priority: 3 -> 1
      size: large
      tokens: 500
      criteria: it runs
    $ punch edit code --verify true --files 'src/**' --description 'at length' --active-form 'Writing it' --phase End
    [.] code  Write it well
      active form: Writing it
      description: at length
      phase: Core -> End
      verify: true
      files: +src/**
    $ punch show code
    [.] code  Write it well
      why: waiting for design
      description: at length
      phase: End
      priority: 1
      size: large
      tokens: 500
      needs: design  Design it
      criteria: it runs
      verify: true
      files: src/**
      parallel group: 2
      times: added a moment ago
    $ punch edit code --clear tokens --clear description --clear files --clear phase --clear priority
    [.] code  Write it well
      description: at length removed
      phase: End removed
      priority: 1 -> 3
      tokens: 500 removed
      files: -src/**
    $ punch show code
    [.] code  Write it well
      why: waiting for design
      size: large
      needs: design  Design it
      criteria: it runs
      verify: true
      parallel group: 2
      times: added a moment ago
    $ punch edit ship --add-needs code --add-needs design
    [.] ship  Ship it
      needs: code  Write it well
      needs: design  Design it
    $ punch edit ship --drop-needs design
    [.] ship  Ship it
      no longer needs: design  Design it
    $ punch show ship
    [.] ship  Ship it
      why: waiting for code
      phase: End
      needs: code  Write it well
      parallel group: 3
      times: added a moment ago
    $ punch edit ship --needs design
    [.] ship  Ship it
      needs: design  Design it
      no longer needs: code  Write it well
    $ punch edit ship --clear needs
    [ ] ship  Ship it
      no longer needs: design  Design it
    ready now: ship
    $ punch edit ship --blocks design
    [ ] ship  Ship it
      blocks: design  Design it
    $ punch edit ship --new-id release
    [ ] release  Ship it
      id: ship -> release
    $ punch list
    [.] design  Design it  (waiting for release)
    [.] code  Write it well  (waiting for design)
    [ ] release  Ship it
    "#);
}

#[test]
fn editing_in_an_empty_project_names_what_is_missing() {
    assert_snapshot!(World::new().script("edit x --priority 1"), @r#"
$ punch edit x --priority 1
2> error: no todo `x`
2> hint: `punch list --all` shows every todo, closed ones included; `punch log` names archived ones
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
      needs: b  two
    note: `a` is waiting for `gone`, which does not exist
    $ punch edit a --drop-needs gone
    [.] a  one
      no longer needs: gone (unknown)
    $ punch show a
    [.] a  one
      why: waiting for b
      needs: b  two
      parallel group: 2
      times: added a moment ago
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
    <!-- One line per todo; change, tick, move, add or delete lines, then save and close.
         - [ ] T-4  Write the parser  p1 ~20k #core needs: T-2, T-3
         [ ] open, [>] in progress, [x] done, [-] cancelled, [!] failed; a line without an id is a new todo;
         a deleted line archives its todo; `# name` begins a phase. `punch edit T-4` shows everything about one todo. -->

    # Core

    - [ ] design  Design it
    - [ ] code    Write it  needs: design

    # End

    - [ ] ship    Ship it
    600
    700
    Nothing changed.
    --- stderr
    "#);
    assert!(kept(&world).is_empty());
    let script = r#"
        sed -i -e 's/Design it/Design it well/' -e 's/- \[ \] ship/- [x] ship/' -e '/Write it/d' "$1"
        sed -i -e 's/^# End/- [ ] Test it\n\n# End/' "$1""#;
    assert_snapshot!(shown(&world, &edited(&world, &["edit"], script)), @r#"
    exit 0
    --- stdout
    1 added, 2 changed, 1 archived
      added T-1  Test it
      changed design  Design it well
      changed ship  Ship it
      archived code  Write it
    --- stderr
    "#);
    assert_snapshot!(world.script("tree --all --expand\nundo\nlist --all"), @r#"
    $ punch tree --all --expand
    Core  0/2 done
      [ ] design  Design it well
      [ ] T-1  Test it
    End  1/1 done
      [x] ship  Ship it
    $ punch undo
    Undid revision 4 by user: code archived; design text changed; ship completed; T-1 added: Test it
    [ ] design  Design it
    [.] code  Write it
    [ ] ship  Ship it
    archived: T-1  Test it
    $ punch list --all
    [ ] design  Design it
    [.] code  Write it  (waiting for design)
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
      changed code  Write it down
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
    let script = r#"sed -i -e 's/- \[ \] ship/- [?] ship/' "$1"; echo 'junk' >> "$1"; echo '- [ ]' >> "$1""#;
    assert_snapshot!(shown(&world, &edited(&world, &["edit"], script)), @r#"
    exit 1
    --- stdout
    --- stderr
    your text was saved in $ROOT/temp/punch-edit/plan.md
    `punch edit --again $ROOT/temp/punch-edit/plan.md` resumes the edit
    error: line 13: unknown mark `[?]`: use `[ ]`, `[>]`, `[x]`, `[-]` or `[!]`
    line 14: not a todo: write `- [ ] text`, or `# name` for a phase
    line 15: the text is missing
    hint: fix that value and try again; nothing was changed
    "#);
    let file = kept(&world).pop().unwrap();
    assert!(fs::read_to_string(&file).unwrap().contains("junk"));
    let path = file.to_str().unwrap();
    let script = r#"sed -i -e 's/\[?\] ship    Ship it/[x] ship Ship it now/; s/\[?\] ship  *Ship it/[x] ship Ship it now/' -e '/^junk/d' -e '/^- \[ \]$/d' "$1""#;
    assert_snapshot!(shown(&world, &edited(&world, &["edit", "--again", path], script)), @r#"
    exit 0
    --- stdout
    1 changed
      changed ship  Ship it now
    --- stderr
    "#);
    assert!(!file.exists() && kept(&world).is_empty());
    assert_snapshot!(world.script("list --all"), @r#"
    $ punch list --all
    [ ] design  Design it
    [.] code  Write it  (waiting for design)
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
    your text was saved in $ROOT/temp/punch-edit/plan.md
    `punch edit --again $ROOT/temp/punch-edit/plan.md` resumes the edit
    error: the editor `'$ROOT/my editor.sh'` ended with exit status: 3; nothing was changed
    hint: save and quit the editor normally to apply the text
    "#);
    assert_snapshot!(shown(&world, &edited(&world, &["edit"], ": > \"$1\"")), @r#"
    exit 2
    --- stdout
    --- stderr
    your text was saved in $ROOT/temp/punch-edit/plan.md
    `punch edit --again $ROOT/temp/punch-edit/plan.md` resumes the edit
    error: the text is empty; nothing was changed
    hint: `punch rm --all` archives everything
    "#);
    assert_snapshot!(shown(&world, &edited(&world, &["edit"], "printf '\\377' >> \"$1\"")), @r#"
    exit 1
    --- stdout
    --- stderr
    your text was saved in $ROOT/temp/punch-edit/plan.md
    `punch edit --again $ROOT/temp/punch-edit/plan.md` resumes the edit
    error: $ROOT/temp/punch-edit/plan.md: not UTF-8 text (byte 475)
    hint: fix that value and try again; nothing was changed
    "#);
    let run = finished(world.command(&["edit"]).env("VISUAL", "no-such-editor").output().unwrap());
    assert_eq!(run.exit, Some(2), "{}", run.render());
    assert_eq!(world.ids(), ["design", "code", "ship"]);
}

#[cfg(unix)]
#[test]
fn an_empty_plan_is_begun_in_the_editor() {
    let world = World::new();
    let run = edited(&world, &["edit", "--json"], "echo '- [ ] First' >> \"$1\"");
    assert_eq!(
        run.stdout,
        "{\"schema\":1,\"added\":[\"T-1\"],\"changed\":[],\"archived\":[],\"warnings\":[],\"revision\":1}\n"
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
        edit ship --clear color
        edit
    "), @r#"
    $ punch edit design
    2> error: no editor found
    2> hint: set VISUAL or EDITOR, or give fields: `punch edit T-3 --priority 1`
    exit 2
    $ punch edit --priority 2
    2> error: no todo given for these fields
    2> hint: name it: `punch edit T-3 …`
    exit 2
    $ punch edit nobody --priority 2
    2> error: no todo `nobody`
    2> hint: `punch list --all` shows every todo, closed ones included; `punch log` names archived ones
    exit 1
    $ punch edit it --priority 2
    2> error: `it` matches 3 todos:
    2>   design  Design it
    2>   code  Write it
    2>   ship  Ship it
    2> hint: use the id of the one you mean
    exit 1
    $ punch edit design --priority 9
    2> error: invalid value '9' for '--priority <1-5>': use a number from 1 to 5, or urgent, high, medium, low, lowest
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch edit design --content ''
    2> error: text: must not be empty
    2> hint: fix that value and try again; nothing was changed
    exit 1
    $ punch edit design --new-id ship
    2> error: id `ship` is already in use
    2> hint: choose another id, or leave it out to get the next free one
    exit 1
    $ punch edit design --add-needs code
    2> error: dependencies form a cycle: design -> code -> design
    2> hint: remove one of these dependencies
    exit 1
    $ punch edit design --add-needs nobody
    2> error: no todo `nobody`
    2> hint: `punch list --all` shows every todo, closed ones included; `punch log` names archived ones
    exit 1
    $ punch edit ship --drop-needs code
    2> error: --drop-needs: `ship` does not need `code`
    2> hint: fix that value and try again; nothing was changed
    exit 1
    $ punch edit ship --needs code --add-needs design
    2> error: the argument '--needs <TODO>' cannot be used with '--add-needs <TODO>'
    2>
    2> Usage: punch edit --needs <TODO> <TODO>
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch edit ship --tokens 5 --clear tokens
    2> error: `--tokens` and `--clear tokens` cannot be combined
    2> hint: drop one of them
    exit 2
    $ punch edit ship --clear color
    2> error: invalid value 'color' for '--clear <FIELD>'
    2>   [possible values: needs, phase, priority, labels, complexity, tokens, criteria, verify, files, description, active-form]
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch edit
    2> error: no editor found
    2> hint: set VISUAL or EDITOR, or give fields: `punch edit T-3 --priority 1`
    exit 2
    "#);
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
        refused(r#"sed -i 's/- \[ \] code/- [x] code/' "$1""#),
        refused(r#"sed -i 's/needs: design/needs: desing/' "$1""#),
        refused(r#"sed -i 's/- \[ \]/- [>]/' "$1""#),
        refused(&long),
        refused(r#"echo some words >> "$1""#),
        refused(r#"sed -i 's/Ship it/Ship it needs: code/; s/Design it/Design it needs: ship/' "$1""#),
        refused(r#"echo '- [x] Tell everyone needs: ship' >> "$1""#),
    ].concat(), @r#"
    error: line 9: `code` is blocked by `design` (ready)
    error: line 9: needs: no todo `desing`
    error: line 9: cannot start both `design` and `code`: only one todo may be in progress (`policy.in_progress`)
    error: line 14: text too long: 600 characters (limit 500)
    error: line 14: not a todo: write `- [ ] text`, or `# name` for a phase
    error: line 8: dependencies form a cycle: ship -> code -> design -> ship
    error: line 14: `T-1` is blocked by `ship` (ready)
    "#);
    assert_eq!(kept(&world).len(), 7);
    // Ticking a chain in one go is fine, whatever the order of its lines.
    assert_eq!(edited(&world, &["edit"], r#"sed -i 's/- \[ \]/- [x]/' "$1""#).exit, Some(0));
    assert_eq!(world.json(&["status"])["completed"], 3);
}

#[test]
fn labels_are_set_shown_and_filtered() {
    assert_snapshot!(world().script(r"
        add 'Fix the login' --label bug --label area/auth
        edit code --label bug
        edit T-1 --label urgent --no-label bug
        list
        list --label bug
        list --label bug --label urgent
        show T-1
        undo
        list --label area/auth
        edit T-1 --clear labels
        list --label area/auth
        add 'Loud' --label 'Big Bug'
        edit T-1 --no-label 'A B'
        list --label NO
    "), @r#"
    $ punch add 'Fix the login' --label bug --label area/auth
    [ ] T-1  Fix the login
    $ punch edit code --label bug
    [.] code  Write it
      labels: +bug
    $ punch edit T-1 --label urgent --no-label bug
    [ ] T-1  Fix the login
      labels: +urgent -bug
    $ punch list
    [ ] design  Design it
    [.] code  Write it  (#bug; waiting for design)
    [ ] ship  Ship it
    [ ] T-1  Fix the login  (#area/auth #urgent)
    $ punch list --label bug
    [.] code  Write it  (#bug; waiting for design)
    $ punch list --label bug --label urgent
    No open todo is labeled bug and urgent.
    $ punch show T-1
    [ ] T-1  Fix the login
      labels: area/auth, urgent
      times: added a moment ago
    $ punch undo
    Undid revision 6 by user: T-1 labels changed
    [ ] T-1  Fix the login
    $ punch list --label area/auth
    [ ] T-1  Fix the login  (#area/auth #bug)
    $ punch edit T-1 --clear labels
    [ ] T-1  Fix the login
      labels: -area/auth -bug
    $ punch list --label area/auth
    No open todo is labeled area/auth.
    $ punch add 'Loud' --label 'Big Bug'
    2> error: invalid label `Big Bug`
    2> hint: use lower case letters, digits and - _ . / :, at most 50 of them; for example `big-bug`
    exit 1
    $ punch edit T-1 --no-label 'A B'
    2> error: invalid label `A B`
    2> hint: use lower case letters, digits and - _ . / :, at most 50 of them; for example `a-b`
    exit 1
    $ punch list --label NO
    2> error: invalid label `NO`
    2> hint: use lower case letters, digits and - _ . / :, at most 50 of them; for example `no`
    exit 1
    "#);
}

#[cfg(unix)]
#[test]
fn one_todo_is_edited_with_its_fields_and_description() {
    let world = world();
    world.ok(&["edit", "code", "--description", "at length", "--priority", "2"]);
    let run = edited(&world, &["edit", "code"], "cat \"$1\"");
    assert_snapshot!(shown(&world, &run), @r#"
    exit 0
    --- stdout
    <!-- Change what you like, then save and close. Text below the fields is the description. -->

    # Write it

    phase: Core
    priority: 2
    needs: design
    labels:
    size:
    tokens:
    criteria:
    verify:
    files:

    at length
    Nothing changed.
    --- stderr
    "#);
    let script = r#"sed -i -e 's/^# .*/# Write it well/' -e 's/^priority: .*/priority: high/' -e 's/^tokens:.*/tokens: 20k/' \
        -e 's/^needs: .*/needs:/' -e 's/^labels:.*/labels: core, io/' -e 's/at length/in short/' "$1""#;
    assert_snapshot!(shown(&world, &edited(&world, &["edit", "code"], script)), @r#"
    exit 0
    --- stdout
    [ ] code  Write it well
      text: Write it -> Write it well
      description: at length -> in short
      labels: +core +io
      tokens: 20,000
      no longer needs: design  Design it
    ready now: code
    --- stderr
    "#);
    let wrong = edited(&world, &["edit", "code"], r#"sed -i 's/^priority/prio/' "$1""#);
    assert!(wrong.stderr.contains("line 6: unknown field `prio`"), "{}", wrong.stderr);
}

/// Whatever is wrong with the text of one todo is reported with its line, and the draft can be continued.
#[cfg(unix)]
#[test]
fn a_draft_of_one_todo_is_refused_with_the_line_and_continued() {
    let world = world();
    let refused = |change: &str| {
        let run = edited(&world, &["edit", "code"], &format!("sed -i '{change}' \"$1\""));
        assert_eq!(run.exit, Some(1), "{}", run.render());
        let lines = run.stderr.lines().filter(|line| line.starts_with("error"));
        lines.map(|line| line.to_owned() + "\n").collect::<String>()
    };
    let long = format!("s/^# .*/# {}/", "x".repeat(600));
    assert_snapshot!([
        refused("s/^priority: .*/priority: soon/"),
        refused("s/^needs: .*/needs: desing/"),
        refused("s/^needs: .*/needs: code/"),
        refused("s/^labels:.*/labels: Big Bug/"),
        refused("s/^size:.*/size: huge/"),
        refused("s/^tokens:.*/tokens: few/"),
        refused("s/^# .*/#/"),
        refused(&long),
    ].concat(), @r#"
    error: line 6: priority: use a number from 1 to 5, or urgent, high, medium, low, lowest
    error: line 7: needs: no todo `desing` (did you mean `design`?)
    error: line 7: needs: `code` cannot depend on itself
    error: line 8: labels: invalid label `Big Bug`
    error: line 9: size: use trivial, small, medium, large or epic
    error: line 10: tokens: use a number such as 20000, 20k or 1.5m
    error: line 3: the text of the todo is empty
    error: line 3: text too long: 600 characters (limit 500)
    "#);
    let run =
        edited(&world, &["edit", "code"], r#"sed -i 's/^size:.*/size: huge/; s/^priority: .*/priority: 1/' "$1""#);
    let command = run.stderr.lines().find_map(|line| line.strip_suffix("` resumes the edit")).unwrap();
    let words: Vec<&str> = command.trim_start_matches("`punch ").split(' ').collect();
    assert_eq!(words[..3], ["edit", "code", "--again"], "{}", run.render());
    let fixed = edited(&world, &words, "sed -i 's/^size:.*/size: large/' \"$1\"");
    assert_snapshot!(shown(&world, &fixed), @r#"
    exit 0
    --- stdout
    [.] code  Write it
      priority: 3 -> 1
      size: large
    --- stderr
    "#);
    let whole = edited(&world, &["edit"], "exit 3");
    assert_eq!(whole.exit, Some(2));
    let plan = kept(&world).pop().unwrap();
    let mixed = edited(&world, &["edit", "code", "--again", plan.to_str().unwrap()], "true");
    assert!(mixed.stderr.contains("is a draft of the whole plan"), "{}", mixed.render());
}
