//! What a new user meets on the first day: names, traps, answers that say what happened.

use std::fs;
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;

use crate::world::{World, calm};

#[test]
fn punch_alone_shows_the_plan_or_how_to_begin() {
    let world = World::new();
    let bare = world.punch(&[]);
    assert_eq!((bare.exit, bare.stderr.as_str()), (Some(0), ""), "{}", bare.render());
    assert_eq!(bare.stdout.lines().count(), 4, "{}", bare.stdout);
    assert_eq!(std::fs::read_dir(&world.project).unwrap().count(), 0, "looking makes no store");
    for add in [&["add", "Write it"][..], &["add", "Ship it", "--needs", "1"], &["add", "Choose a name"]] {
        world.ok(add);
    }
    world.ok(&["hold", "T-3", "which one?"]);
    world.ok(&["start", "T-1"]);
    assert_snapshot!(world.script("\n").to_owned() + &world.ok(&[]), @r#"
    main: 0 of 3 done (0%)
    Needs you    [|] T-3  Choose a name: which one?
                   punch unhold T-3 --note '…'
    In progress  [>] T-1  Write it  (yours; punch show T-1)
    No agent is connected: `punch install` connects the ones you use
    "#);
    assert_eq!(world.ok(&["status", "--line"]), "0/3 [>] Write it; 1 needs you\n");
    assert_eq!(world.json(&[])["total"], 3);
}

#[test]
fn what_is_left_stuck_is_named_and_stays_visible() {
    let world = World::new();
    world.ok(&["add", "A"]);
    world.ok(&["add", "B", "C", "--needs", "T-1"]);
    assert_snapshot!(world.script(r"
        cancel A
        list
        done T-2
        reopen T-1
        fail T-1 --error 'no network'
        fail T-1 --error 'still none'
        fail T-1 --error 'and again'
        list
        show T-1
        status
    "), @r#"
    $ punch cancel A
    [-] T-1  A
    note: T-2 and T-3 can no longer start: T-1 is cancelled
    $ punch list
    [#] T-2  B  (stuck behind T-1, which is cancelled)
    [#] T-3  C  (stuck behind T-1, which is cancelled)
    $ punch done T-2
    2> error: `T-2` is blocked by `T-1` (cancelled)
    2> hint: run `punch reopen T-1` to work on it again, or `punch edit T-2 --drop-needs T-1` to remove the dependency
    exit 1
    $ punch reopen T-1
    [ ] T-1  A
    $ punch fail T-1 --error 'no network'
    [ ] T-1  A
      error: no network
    attempt 1 of 2 failed; 1 attempt left
    $ punch fail T-1 --error 'still none'
    [!] T-1  A
      error: still none
    note: T-2 and T-3 can no longer start: T-1 failed
    failed after 2 attempts
    $ punch fail T-1 --error 'and again'
    [!] T-1  A
      error: and again
    note: T-2 and T-3 can no longer start: T-1 failed
    it had already failed; only the error was updated
    $ punch list
    [!] T-1  A  (and again)
    [#] T-2  B  (stuck behind T-1, which failed)
    [#] T-3  C  (stuck behind T-1, which failed)
    $ punch show T-1
    [!] T-1  A
      blocks: T-2  B
      blocks: T-3  C
      last error: and again
      attempts: 2 failed
      times: added a moment ago, finished a moment ago
      earlier error: still none
      earlier error: no network
    $ punch status
    main: 0 of 3 done (0%)
    Failed       [!] T-1  A: and again (blocks 2)  (punch reopen T-1)
    Stuck        [#] T-2  B  (stuck behind T-1, which failed; punch why T-2)
                 [#] T-3  C  (stuck behind T-1, which failed)
    No agent is connected: `punch install` connects the ones you use
    "#);
}

#[test]
fn claims_are_given_back_and_release_means_both() {
    let world = World::new();
    world.ok(&["add", "A", "B"]);
    assert_snapshot!(calm(&world.script(r"
        claim T-1 --owner ann
        unclaim T-1 --owner ben
        unclaim T-1 --owner ann
        claim T-1 --owner ann
        release T-1
        hold T-2 'which?'
        release T-2
        unclaim T-2
    ")), @r#"
    $ punch claim T-1 --owner ann
    [>] T-1  A
    claimed by ann for 15m
    $ punch unclaim T-1 --owner ben
    2> error: `T-1` is claimed by `ann` until TIME
    2> hint: start another todo with `punch start T-2`, or wait until the claim ends
    exit 1
    $ punch unclaim T-1 --owner ann
    [ ] T-1  A
    $ punch claim T-1 --owner ann
    [>] T-1  A
    claimed by ann for 15m
    $ punch release T-1
    [ ] T-1  A
    note: this ends the claim of `ann` on `T-1`
    $ punch hold T-2 'which?'
    [|] T-2  B
      on hold: which?
    $ punch release T-2
    [ ] T-2  B
      no longer on hold
    ready now: T-2
    $ punch unclaim T-2
    2> error: cannot unclaim `T-2`: it is not claimed
    2> hint: `punch show T-2` shows its state
    exit 1
    "#);
}

#[test]
fn input_is_read_as_people_write_it() {
    let world = World::new();
    world.ok(&["add", "Write the parser", "Test the parser", "Changelog entry"]);
    assert_snapshot!(world.script(r"
        add Ship --needs T-1,T-2 --priority high --tokens 30k
        add Announce --needs changelog --needs ship
        show 4
        done 1
        add foo --needs T-3 T-4
        add foo --needs T-3,T-99
        add foo --id 'a b'
        add foo --priority soon
        add foo --tokens many
        show chnagelog
        hold T-2 'rate limit' --kind timer
        edit T-4 --priority 1 --add-needs 3 --phase End --label urgent
        note T-4 mind the gap
        hold T-4 'which version?'
        move T-4 --first
        move T-4 --first
        edit T-4 --drop-needs 3 --clear phase
    "), @r#"
    $ punch add Ship --needs T-1,T-2 --priority high --tokens 30k
    [.] T-4  Ship
      needs: T-1  Write the parser
      needs: T-2  Test the parser
    $ punch add Announce --needs changelog --needs ship
    [.] T-5  Announce
      needs: T-3  Changelog entry
      needs: T-4  Ship
    $ punch show 4
    [.] T-4  Ship
      why: waiting for T-1, T-2
      priority: 2
      tokens: 30,000
      needs: T-1  Write the parser
      needs: T-2  Test the parser
      blocks: T-5  Announce
      parallel group: 2
      times: added a moment ago
    $ punch done 1
    [x] T-1  Write the parser
    $ punch add foo --needs T-3 T-4
    2> error: `T-4` is an id, not something to do
    2> hint: separate ids with commas: `--needs T-3,T-4`
    exit 2
    $ punch add foo --needs T-3,T-99
    2> error: no todo `T-99`
    2> hint: `punch list` shows the ids; add the missing todo first, or leave the dependency out
    exit 1
    $ punch add foo --id 'a b'
    2> error: invalid id `a b`: an id cannot contain spaces or commas, or begin with `-`
    2> hint: try `--id a-b`
    exit 2
    $ punch add foo --priority soon
    2> error: invalid value 'soon' for '--priority <1-5>': use a number from 1 to 5, or urgent, high, medium, low, lowest
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch add foo --tokens many
    2> error: invalid value 'many' for '--tokens <N>': use a number such as 20000, 20k or 1.5m
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch show chnagelog
    2> error: no todo `chnagelog` (did you mean `T-3 Changelog entry`?)
    2> hint: `punch list --all` shows every todo, closed ones included; `punch log` names archived ones
    exit 1
    $ punch hold T-2 'rate limit' --kind timer
    2> error: `--kind timer` needs `--for`, for example `--for 10m`
    2> hint: `punch hold --help` shows examples
    exit 2
    $ punch edit T-4 --priority 1 --add-needs 3 --phase End --label urgent
    [.] T-4  Ship
      phase: End
      priority: 2 -> 1
      labels: +urgent
      needs: T-3  Changelog entry
    $ punch note T-4 mind the gap
    [.] T-4  Ship
      note: mind the gap
    $ punch hold T-4 'which version?'
    [.] T-4  Ship
      on hold: which version?
    $ punch move T-4 --first
    [.] T-4  Ship
      moved to the beginning
    $ punch move T-4 --first
    [.] T-4  Ship
      already there
    $ punch edit T-4 --drop-needs 3 --clear phase
    [.] T-4  Ship
      phase: End removed
      no longer needs: T-3  Changelog entry
    "#);
}

#[test]
fn a_pasted_markdown_list_becomes_todos_with_phases() {
    let world = World::new();
    let run = world.feed(&["add"], "# Core\n- [ ] Parse\n- [x] Old\n1. Print\n\n## Docs\n* Describe\n");
    assert_eq!(run.exit, Some(0), "{}", run.render());
    assert_snapshot!(world.ok(&["list", "--tree"]), @r#"
    Core  0/2 done
      [ ] T-1  Parse
      [ ] T-2  Print
    Docs  0/1 done
      [ ] T-3  Describe
    "#);
    assert_eq!(world.feed(&["add"], "\n").exit, Some(2));
}

#[test]
fn lists_are_filtered_by_flags_and_by_words() {
    let world = World::new();
    world.ok(&["add", "Write the parser", "--phase", "Core", "--priority", "1"]);
    world.ok(&["add", "Test the parser", "--needs", "T-1"]);
    world.ok(&["add", "Write the docs", "--label", "docs"]);
    world.ok(&["start", "T-3", "--owner", "claude-1"]);
    let ids = |arguments: &[&str]| crate::world::ids(&world.json(&[&["list"], arguments].concat()));
    for (arguments, wanted) in [
        (&["--ready"][..], &["T-1"][..]),
        (&["is:ready"], &["T-1"]),
        (&["--blocked"], &["T-2"]),
        (&["parser", "-test"], &["T-1"]),
        (&["--text", "the docs"], &["T-3"]),
        (&["--status", "working"], &["T-3"]),
        (&["by:claude"], &["T-3"]),
        (&["--owner", "claude-1"], &["T-3"]),
        (&["p:1"], &["T-1"]),
        (&["--mine"], &[]),
        (&["under:T-2"], &["T-1"]),
        (&["-n", "1"], &["T-1"]),
    ] {
        assert_eq!(ids(arguments), wanted, "{arguments:?}");
    }
    world.ok(&["done", "T-1"]);
    assert_eq!(ids(&["is:done"]), ["T-1"]);
    let found = crate::world::ids(&world.json(&["search", "parser"]));
    assert_eq!(found, ["T-1", "T-2"], "a search finds closed todos too");
    assert_eq!(world.refused(&["list", "ist:ready"]), (2, "usage".to_owned()));
    assert_eq!(world.punch(&["list", "--redy"]).exit, Some(2));
}

#[test]
fn older_names_work_with_the_same_answers() {
    let world = World::new();
    world.ok(&["add", "A", "B"]);
    assert_eq!(world.json(&["ready"]), world.json(&["list", "--ready"]));
    for (old, new) in [
        (&["runs"][..], &["run", "list"][..]),
        (&["why-stop"], &["keep-going", "why"]),
        (&["report"], &["stats"]),
        (&["ls"], &["list"]),
        (&["version"], &["version"]),
    ] {
        assert_eq!(world.json(old), world.json(new), "{old:?}");
    }
    assert_eq!(world.json(&["tree"])["todos"], world.json(&["list", "--tree"])["todos"]);
    assert_eq!(world.ok(&["tree", "--all", "--expand"]), world.ok(&["list", "--tree", "--all"]));
    assert_eq!(world.json(&["cost", "--dialect", "cursor"]), world.json(&["stats", "cost", "--dialect", "cursor"]));
    for (old, new) in [
        (&["tree", "--all"][..], &["list", "--tree", "--all"][..]),
        (&["tree", "--nonsense"], &["list", "--tree", "--nonsense"]),
        (&["ready", "--limit", "1"], &["list", "--ready", "--limit", "1"]),
        (&["release", "T-9"], &["unhold", "T-9"]),
        (&["release"], &["unhold"]),
        (&["drop", "T-9"], &["cancel", "T-9"]),
        (&["cost", "--dialect", "none"], &["stats", "cost", "--dialect", "none"]),
        (&["cost", "--replay", "x"], &["stats", "cost", "--replay", "x"]),
        (&["runs"], &["run", "list"]),
        (&["runs", "show", "7"], &["run", "show", "7"]),
        (&["why-stop"], &["keep-going", "why"]),
        (&["usage", "T-9", "--tokens", "5"], &["stats", "record", "T-9", "--tokens", "5"]),
    ] {
        let answers = [old, new].map(|words| world.punch(&[words, &["--json"]].concat()));
        assert_eq!(answers[0].exit, answers[1].exit, "{old:?}");
        let codes = answers.map(|answer| crate::world::answer(&answer)["error"]["code"].clone());
        assert_eq!(codes[0], codes[1], "{old:?}");
    }
    world.ok(&["hold", "T-2", "later"]);
    world.ok(&["release", "T-2"]);
    assert!(world.json(&["show", "T-2"])["todo"].get("hold").is_none());
    world.ok(&["claim", "T-2", "--owner", "ann"]);
    world.ok(&["release", "T-2"]);
    assert_eq!(world.json(&["show", "T-2"])["todo"]["status"], "pending");
    world.ok(&["drop", "A"]);
    assert_eq!(world.json(&["show", "T-1"])["todo"]["status"], "cancelled");
    assert_eq!(world.refused(&["plan-file", "status"]), world.refused(&["plan", "status"]));
    assert_eq!(world.json(&["usage", "T-2", "--tokens", "5"])["tokens"], 5);
    assert_eq!(world.json(&["stats", "record", "T-2", "--tokens", "5"])["tokens"], 10);
}

#[test]
fn a_store_that_is_named_must_exist_and_one_outside_git_is_announced() {
    let world = World::new();
    assert_eq!(world.refused(&["list", "--store", "nowhere"]), (1, "no_store".to_owned()));
    assert_eq!(world.refused(&["add", "x", "--store", "nowhere"]), (1, "no_store".to_owned()));
    assert!(!world.project.join("nowhere").exists());
    world.ok(&["init", "--no-agents", "--store", "here"]);
    world.ok(&["add", "x", "--store", "here"]);
    let run = world.punch(&["add", "y"]);
    assert!(
        run.stderr.contains("created a store in") && run.stderr.contains("folders below use it too"),
        "{}",
        run.stderr
    );
    assert_eq!(world.punch(&["add", "z"]).stderr, "");
}

#[test]
fn a_json_file_that_cannot_be_read_is_refused() {
    let world = World::new();
    for (name, text) in [("a.json", "garbage {"), ("b.json", "{\"todos\": ["), ("c.jsonl", "- [ ] not JSON")] {
        std::fs::write(world.project.join(name), text).unwrap();
        let (code, _) = world.refused(&["import", name]);
        assert_eq!(code, 1, "{name}");
    }
    assert_eq!(world.json(&["list", "--all"])["todos"], serde_json::json!([]));
}

#[test]
fn an_empty_plan_beside_others_is_named() {
    let world = World::new();
    world.ok(&["add", "First"]);
    world.ok(&["plan", "new", "second"]);
    assert!(world.ok(&[]).contains("Plan `second` has no todos."));
}

#[test]
fn importing_twice_updates_and_exporting_never_overwrites_silently() {
    let world = World::new();
    let file = world.project.join("TODO.md");
    std::fs::write(&file, "# Core\n- [ ] Parse\n- [ ] Print\n").unwrap();
    world.ok(&["import", "TODO.md"]);
    std::fs::write(&file, "# Core\n- [x] Parse\n- [ ] Print\n- [ ] Ship\n").unwrap();
    assert_snapshot!(world.script("import TODO.md\nlist --all\nimport TODO.md\nimport TODO.md --new"), @r#"
    $ punch import TODO.md
    1 todo imported
    1 todo updated
    1 todo unchanged
    $ punch list --all
    [x] T-1  Parse
    [ ] T-2  Print
    [ ] T-3  Ship
    $ punch import TODO.md
    Nothing changed: the plan already has all 3 todos from this file.
    $ punch import TODO.md --new
    3 todos imported
    "#);
    assert_eq!(world.refused(&["export", "TODO.md"]), (1, "file_exists".to_owned()));
    assert_eq!(world.json(&["export", "TODO.md", "--force"])["format"], "checklist");
    assert_eq!(world.json(&["export", "new.plan.md"])["format"], "cursor-plan");
    assert_eq!(world.json(&["export", "plan.json"])["format"], "extended");
}

#[test]
fn a_plan_goes_to_another_machine_and_back_without_doubles() {
    let (here, there) = (World::new(), World::new());
    here.ok(&["add", "Write it", "--id", "code"]);
    here.ok(&["add", "Ship it", "--needs", "code"]);
    let exported = here.ok(&["export"]);
    assert_eq!(there.feed(&["import", "-", "--json"], &exported).exit, Some(0));
    there.ok(&["done", "code"]);
    there.ok(&["add", "Announce it", "--needs", "T-1"]);
    here.ok(&["note", "T-1", "on Friday"]);
    let back = there.ok(&["export"]);
    assert_eq!(here.feed(&["import", "-"], &back).exit, Some(0));
    assert_eq!(there.feed(&["import", "-"], &here.ok(&["export"])).exit, Some(0));
    let shown = |world: &World| world.ok(&["list", "--all"]);
    assert_eq!(shown(&here), shown(&there));
    assert_snapshot!(shown(&here), @r#"
    [x] code  Write it
    [ ] T-1  Ship it
    [.] T-2  Announce it  (waiting for T-1)
    "#);
}

#[test]
fn agents_are_connected_only_with_approval() {
    let world = World::with_git();
    let run = world.punch(&["install", "claude"]);
    assert_eq!(run.exit, Some(1), "{}", run.render());
    assert!(run.stderr.contains("add `-y` to approve"), "{}", run.stderr);
    assert!(!world.project.join(".claude").exists());
    assert_eq!(world.punch(&["install", "claude", "-y"]).exit, Some(0));
    assert!(world.ok(&[]).contains("No plan here yet"));
    world.ok(&["add", "x"]);
    assert!(world.ok(&[]).contains("Claude Code connected"), "{}", world.ok(&[]));
}

#[test]
fn help_has_every_command_in_a_group_and_explains_signs_and_filters() {
    let world = World::new();
    let help = world.ok(&["help"]);
    assert_eq!(help, world.ok(&["--help"]));
    assert_eq!(world.ok(&["help", "add"]), world.ok(&["add", "--help"]));
    assert!(!help.contains("  mcp ") && world.ok(&["help", "--all"]).contains("  mcp "));
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    assert_snapshot!(world.ok(&["help", "symbols"]), @r#"
    On a terminal, and in pipes or with `--ascii`:
      ○  [ ]  ready       can be started now
      ◌  [.]  waiting     waits for other todos, or for work on the same files
      ⊘  [#]  stuck       needs a todo that was cancelled or failed
      ‖  [|]  on hold     on hold: for you, a job or a timer
      ◦  [_]  parked      set aside, not open work until you take it off hold
      ?  [?]  empty       has no text
      ▶  [>]  in progress someone works on it
      ▷  [<]  stalled     in progress although something it needs is not done
      ◈  [*]  reported    its worker says it is done; it has not been verified yet
      ✓  [x]  completed   done
      –  [-]  cancelled   cancelled
      ✗  [!]  failed      failed for good
      ⌫  [~]  archived    removed from the plan

    After a todo: priority (P3 is hidden), #label, @owner; "yours" means you own it,
    "oversize" that no context window can hold it.
    "#);
    assert!(world.ok(&["help", "filters"]).contains("is:ready"));
    assert!(world.ok(&["help", "options"]).contains("--color <WHEN>"));
    assert!(!world.ok(&["add", "--help"]).contains("--store"), "global options are explained once");
    assert_eq!(world.punch(&["help", "symbls"]).exit, Some(2));
}

#[test]
fn words_for_completion_are_ids_plans_and_owners() {
    let world = World::new();
    assert_eq!(world.ok(&["completions", "--list", "ids"]), "");
    world.ok(&["add", "Write it", "Ship it"]);
    world.ok(&["claim", "T-1", "--owner", "ann"]);
    assert_eq!(world.ok(&["completions", "--list", "ids"]), "T-1\tWrite it\nT-2\tShip it\n");
    assert_eq!(world.ok(&["completions", "--list", "plans"]), "main\n");
    assert_eq!(world.ok(&["completions", "--list", "owners"]), "ann\n");
    for shell in ["bash", "zsh", "fish"] {
        assert!(world.ok(&["completions", shell]).contains("completions --words"), "{shell}");
    }
    assert!(world.ok(&["completions", "man"]).contains(".TH PUNCH 1"));
    world.ok(&["completions", "man", "--dir", "man"]);
    assert!(world.project.join("man/punch-add.1").exists());
}

/// Runs the scripts in the shells that are installed, as a user who presses TAB.
#[cfg(unix)]
#[test]
fn shells_complete_words_of_the_project() {
    let world = World::new();
    world.ok(&["add", "Write it", "Ship it: 100 %"]);
    let folder = Path::new(crate::world::PUNCH).parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    for shell in ["bash", "zsh", "fish"] {
        let scripts = world.project.join(shell);
        fs::create_dir(&scripts).unwrap();
        let script = scripts.join("_punch");
        fs::write(&script, world.ok(&["completions", shell])).unwrap();
        let asked = |line: &str| -> Option<String> {
            let (file, folder) = (script.display(), scripts.display());
            let ask = match shell {
                "bash" => format!(
                    "source '{file}'; COMP_LINE='punch {line}'; IFS=' ' read -ra COMP_WORDS <<< \"$COMP_LINE\"; \
                     [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); \
                     _punch_with_words punch \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; \
                     printf '%s\\n' \"${{COMPREPLY[@]}}\""
                ),
                // The first press of TAB loads the script as a function and must be answered by it.
                "zsh" => format!(
                    "compdef() {{ :; }}; _describe() {{ print -l -- $lines; }}; words=(punch {line}''); CURRENT=$#words; \
                     fpath=('{folder}' $fpath); autoload -U _punch; _punch"
                ),
                _ => format!("source '{file}'; complete -C 'punch {line}'"),
            };
            let mut command = Command::new(shell);
            let norc: &[&str] = match shell {
                "bash" => &["--norc", "--noprofile"],
                "zsh" => &["-f"],
                _ => &["--no-config"],
            };
            let command = command.args(norc).args(["-c", &ask]).current_dir(&world.project);
            let like = world.command(&[]);
            let set = like.get_envs().filter_map(|(name, value)| Some((name, value?)));
            let run = command.env_clear().envs(set).env("PATH", &path).output().ok()?;
            let text = String::from_utf8_lossy(&run.stdout).into_owned();
            assert!(run.status.success() || !text.is_empty(), "{shell}: {}", String::from_utf8_lossy(&run.stderr));
            Some(text)
        };
        // A shell that is not installed cannot be tried.
        for line in ["show ", "log T-", "plan use ", "add x --needs "] {
            let Some(text) = asked(line) else { break };
            let word = if line.starts_with("plan") { "main" } else { "T-2" };
            assert!(text.contains(word), "{shell}: {line:?}: {text}");
        }
        if shell == "bash" {
            assert!(asked("sho").unwrap().contains("show"), "verbs still complete");
            // An id may have come from anywhere, and is never run.
            let id = r#"[{"id":"$(touch${IFS}ran)","content":"x"}]"#;
            world.feed(&["import", "-"], id);
            assert!(asked("show ").unwrap().contains("touch"));
            assert!(!world.project.join("ran").exists());
        }
    }
}
