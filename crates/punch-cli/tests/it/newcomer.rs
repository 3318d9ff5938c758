//! What annoyed people in their first hour with punch, and must not come back.

use crate::world::World;

#[test]
fn an_unknown_option_is_not_offered_as_the_text_of_a_todo() {
    let world = World::new();
    let run = world.punch(&["add", "x", "--estimate", "30m"]);
    assert_eq!(run.exit, Some(2));
    assert!(run.stderr.contains("unexpected argument '--estimate'"), "{}", run.stderr);
    assert!(!run.stderr.contains("as a value"), "{}", run.stderr);
    // A similar option is still suggested.
    assert!(world.punch(&["add", "x", "--prioriti", "1"]).stderr.contains("'--priority'"));
}

#[test]
fn every_view_counts_what_is_done() {
    let world = World::new();
    world.ok(&["add", "a", "b", "c", "d"]);
    world.ok(&["edit", "T-3", "--needs", "T-2"]);
    world.ok(&["edit", "T-4", "--needs", "T-1,T-3"]);
    world.ok(&["done", "T-1"]);
    assert!(world.ok(&["plan", "list"]).contains("1 of 4 done"));
    assert!(world.ok(&["status"]).starts_with("main: 1 of 4 done (25%)\n"));
    assert!(world.ok(&["status", "--line"]).starts_with("1/4"));
    let graph = world.ok(&["graph"]);
    let groups: Vec<&str> = graph.lines().filter(|line| line.starts_with("group ")).collect();
    assert_eq!(groups, ["group 1", "group 2", "group 3"], "{graph}");
}

#[test]
fn the_demo_has_short_chapters_in_order_and_no_accidental_error() {
    let world = World::new();
    let demo = world.ok(&["demo", "--all"]);
    let chapters: Vec<&str> = demo.split("# Chapter ").skip(1).collect();
    assert_eq!(chapters.len(), 7, "{demo}");
    for (at, chapter) in chapters.iter().enumerate() {
        assert!(chapter.starts_with(&format!("{} of 7: ", at + 1)), "{chapter}");
        assert!(chapter.lines().count() < 60, "{chapter}");
    }
    // One refusal is part of the story.
    assert_eq!(demo.lines().filter(|line| line.starts_with("error:")).count(), 1, "{demo}");
    let (begins, ends) = (demo.find("run 1 begins"), demo.find("done: run 1"));
    assert!(begins.is_some() && begins < ends, "{demo}");
}

/// A line of the edited plan whose id was changed must not become a new todo.
#[cfg(unix)]
#[test]
fn a_mistyped_id_in_the_editor_changes_nothing() {
    let world = World::new();
    world.ok(&["add", "Design it", "Write it", "Ship it"]);
    world.ok(&["done", "T-1"]);
    let edit = |script: &str| {
        let editor = world.root.join("editor.sh");
        std::fs::write(&editor, format!("sed -i '{script}' \"$1\"\n")).unwrap();
        let mut command = world.command(&["edit"]);
        crate::world::finished(command.env("EDITOR", format!("sh {}", editor.display())).output().unwrap())
    };
    for (script, said) in [
        ("s/T-3  Ship/T-1  Ship/", "`T-1` is completed"),
        ("s/T-3  Ship/T-7  Ship/", "no todo `T-7` (did you mean `T-3`?)"),
        ("s/T-3  Ship/TT3 Ship/", "no todo `TT3` (did you mean `T-3`?)"),
    ] {
        let before = world.ok(&["list", "--all"]);
        let run = edit(script);
        assert_eq!(run.exit, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains(said) && run.stderr.contains("line 7"), "{}", run.stderr);
        assert_eq!(world.ok(&["list", "--all"]), before);
    }
    let run = edit("s/Ship it/Release it/; /T-2/d; $a - [ ] Celebrate");
    assert_eq!(
        run.stdout,
        "1 added, 1 changed, 1 archived\n  added T-4  Celebrate\n  changed T-3  Release it\n  archived T-2  Write it\n"
    );
}

#[test]
fn a_line_reworded_in_file_and_plan_stays_one_todo() {
    let world = World::new();
    let file = world.project.join("PLAN.md");
    std::fs::write(&file, "- [ ] First\n- [ ] Write docs\n- [ ] Last\n").unwrap();
    world.ok(&["plan", "link", "PLAN.md"]);
    world.ok(&["edit", "T-3", "--needs", "T-2"]);
    world.ok(&["edit", "T-2", "--content", "Write the manual"]);
    std::fs::write(&file, "- [ ] First\n- [ ] Explain everything\n- [ ] Last\n").unwrap();
    let synced = world.ok(&["plan", "sync"]);
    let conflict = "conflict: text of T-2: the file says \"Explain everything\", the plan \"Write the manual\"; keeping the file's version";
    assert!(synced.contains(conflict), "{synced}");
    let list = world.ok(&["list", "--all"]);
    assert_eq!(list, "[ ] T-1  First\n[ ] T-2  Explain everything\n[.] T-3  Last  (waiting for T-2)\n");
    assert_eq!(world.ok(&["plan", "sync"]), "The plan and the file are in sync.\n");
    world.ok(&["edit", "T-1", "--content", "First of all"]);
    std::fs::write(&file, "- [ ] First\n- [ ] Explain everything\n- [x] Last\n").unwrap();
    let unlinked = world.ok(&["plan", "unlink"]);
    assert!(unlinked.contains("note: 1 change in the file never reached the plan\n"), "{unlinked}");
    assert!(unlinked.contains("note: 1 change in the plan never reached the file\n"), "{unlinked}");
}

#[test]
fn import_new_gives_fresh_ids_and_keeps_the_references() {
    let world = World::new();
    world.ok(&["add", "One"]);
    world.ok(&["add", "Two", "--needs", "T-1"]);
    let exported = world.ok(&["export", "--format", "extended"]);
    assert!(world.feed(&["import", "-", "--new"], &exported).stdout.starts_with("2 todos imported\n"));
    assert_eq!(
        world.ok(&["list"]),
        "[ ] T-1  One\n[.] T-2  Two  (waiting for T-1)\n[ ] T-3  One\n[.] T-4  Two  (waiting for T-3)\n"
    );
    // Other work under the same ids is new too, also without `--new`.
    let other = r#"[{"id":"T-1","content":"Else"},{"id":"x","content":"More","dependsOn":["T-1"]}]"#;
    assert_eq!(world.feed(&["import", "-"], other).exit, Some(0));
    assert!(world.ok(&["list", "Else"]).starts_with("[ ] T-5  Else"), "{}", world.ok(&["list"]));
    assert!(world.ok(&["show", "x"]).contains("needs: T-5  Else\n"));
}

#[test]
fn only_one_todo_in_progress_is_explained() {
    let world = World::new();
    world.ok(&["add", "a", "b", "c"]);
    let run = world.punch(&["start", "T-1", "T-2"]);
    assert_eq!(run.exit, Some(1));
    assert!(
        run.stderr
            .contains("cannot start both `T-1` and `T-2`: only one todo may be in progress (`policy.in_progress`)"),
        "{}",
        run.stderr
    );
    world.ok(&["start", "T-3"]);
    let run = world.punch(&["start", "T-1"]);
    assert!(
        run.stderr.contains("only one todo may be in progress (`policy.in_progress`), and `T-3` is\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn attempts_are_the_number_of_failures() {
    let world = World::new();
    world.ok(&["add", "a"]);
    world.ok(&["fail", "T-1", "one"]);
    assert!(world.ok(&["fail", "T-1", "two"]).ends_with("failed after 2 attempts\n"));
    assert_eq!(world.ok(&["start", "T-1"]), "[>] T-1  a\n  retrying after 2 failed attempts\n");
    assert!(world.ok(&["fail", "T-1", "three"]).ends_with("failed after 3 attempts\n"));
    assert!(world.ok(&["log", "-n", "1"]).contains("T-1 failed (attempt 3): three"));
    assert!(world.ok(&["show", "T-1"]).ends_with("  earlier error: two\n  earlier error: one\n"), "every text is kept");
    let why = world.ok(&["why"]);
    assert_eq!(why, "Nothing is open, but not everything is done: T-1 \"a\" failed.\nnext: `punch reopen T-1`\n");
    assert_eq!(world.ok(&["next"]), "Nothing is open; 1 todo failed (`punch list --failed`).\n");
    assert_eq!(world.ok(&["list", "--failed"]), "[!] T-1  a  (three)\n");
}

#[test]
fn the_answer_to_a_hold_keeps_its_question() {
    let world = World::new();
    world.ok(&["add", "a", "b"]);
    assert_eq!(world.ok(&["hold", "T-1", "which color?"]), "[|] T-1  a\n  on hold: which color?\n");
    assert!(world.ok(&["inbox"]).contains("punch unhold T-1 --note '…'"));
    world.ok(&["unhold", "T-1", "--note", "red"]);
    assert!(world.ok(&["show", "T-1"]).contains("  note: which color? — red\n"));
    assert_eq!(world.ok(&["unhold", "T-1"]), "[ ] T-1  a\nNothing changed: not on hold.\n");
    world.ok(&["done", "T-1"]);
    assert_eq!(world.ok(&["done", "T-1"]), "[x] T-1  a\nNothing changed: already done.\n");
    // Without a question the note is only the answer.
    world.ok(&["unhold", "T-2", "--note", "go"]);
    assert!(world.ok(&["show", "T-2"]).contains("  note: go\n"));
}

#[test]
fn a_bad_value_is_a_usage_error_in_plain_words() {
    let world = World::new();
    world.ok(&["add", "a"]);
    for (arguments, said) in [
        (&["add", "-p", "9", "x"][..], "use a number from 1 to 5"),
        (&["add", ""], "a todo needs a text"),
        (&["hold", "T-1", "x", "--kind", "bogus"], "use one of human, external, timer, job, other, parked, conflict"),
        (&["list", "is:foo"], "hint: use one of ready, blocked"),
        (&["list", "p:9"], "hint: use a number from 1 to 5, for example `p:1`"),
        (&["list", "foo:bar"], "hint: use `is:`, `by:`"),
        (&["list", "--status", "bogus"], "invalid value 'bogus' for '--status <STATE>': use one of ready"),
        (&["list", "-n", "x"], "'--limit <N>': use a whole number, such as 20"),
        (&["list", "-n", "99999999999999999999999"], "'--limit <N>': the number is too large"),
        (&["undo", "abc"], "'[REVISION]': use a whole number, such as 20"),
        (&["schedule", "--agents", "x"], "'--agents <K>': use a whole number, such as 20"),
        (&["stats", "record", "T-1", "--tokens", "x"], "use a number such as 20000, 20k or 1.5m"),
        (
            &["run", "--agent", "exec:true", "--max-time", "bogus"],
            "invalid value for `--max-time`: `bogus`, expected a duration",
        ),
        (&["config", "set", "lease", "bogus"], "invalid value for `lease`: `bogus`, expected a duration"),
    ] {
        let run = world.punch(arguments);
        assert_eq!(run.exit, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
        for never in ["invalid digit", "nothing was changed", "command line:", "is:bogus"] {
            assert!(!run.stderr.contains(never), "{arguments:?}: {}", run.stderr);
        }
    }
    let recorded = world.ok(&["stats", "record", "T-1", "--tokens", "1.5k"]);
    assert!(recorded.starts_with("T-1: 1,500 tokens"), "{recorded}");
    world.ok(&["next", "--budget", "20k"]);
    world.ok(&["run", "--agent", "exec:true", "--max-tokens", "20k", "--dry-run"]);
    world.ok(&["config", "set", "run.max_tokens", "20k", "--user"]);
    assert_eq!(world.ok(&["config", "get", "run.max_tokens"]), "20000\n");
    assert!(world.ok(&["config", "set", "lease", "30m"]).starts_with("lease = 30m (in `"));
}

#[test]
fn only_near_names_are_suggested() {
    let world = World::new();
    world.ok(&["add", "a", "b", "c"]);
    for (verb, tip) in [("lst", "a similar subcommand exists: 'list'"), ("nxt", "a similar subcommand exists: 'next'")]
    {
        let run = world.punch(&[verb]);
        assert!(run.stderr.contains(tip), "{}", run.stderr);
    }
    assert!(!world.punch(&["xyzzy"]).stderr.contains("tip:"));
    assert!(world.punch(&["plan", "lnk"]).stderr.contains("'link'"));
    for id in ["T-9", "T-99"] {
        let run = world.punch(&["show", id]);
        assert!(run.stderr.starts_with(&format!("error: no todo `{id}`\n")), "{}", run.stderr);
    }
    let run = world.punch(&["show", "TT-3"]);
    assert!(run.stderr.contains("(did you mean `T-3`?)"), "{}", run.stderr);
}

#[test]
fn what_is_done_is_not_waited_for() {
    let world = World::new();
    world.ok(&["add", "a", "b", "c", "d"]);
    world.ok(&["edit", "T-2", "--needs", "T-1"]);
    world.ok(&["edit", "T-3", "--needs", "T-2"]);
    world.ok(&["done", "T-1"]);
    assert!(world.ok(&["next"]).contains("  needs: T-1 (done)\n"));
    assert!(world.ok(&["show", "T-2"]).contains("  needs: T-1  a (done)\n"));
    assert!(world.ok(&["graph"]).contains("T-1 (done)"));
    assert!(world.ok(&["show", "T-3"]).contains("  needs: T-2  b\n"));
    assert_eq!(
        world.ok(&["why", "T-3"]),
        "[.] T-3  c\nT-3 is waiting for T-2 \"b\" (ready)\nnothing is waiting for T-3\nnext: `punch start T-2`\n"
    );
    world.ok(&["hold", "T-4", "later"]);
    let why = world.ok(&["why"]);
    assert!(why.contains("Other open todos are blocked by:\n  T-4"), "{why}");
}

#[test]
fn the_log_says_what_happened_in_plain_words() {
    let world = World::new();
    world.ok(&["add", "a"]);
    world.ok(&["hold", "T-1", "why?"]);
    world.ok(&["unhold", "T-1", "--note", "because"]);
    world.ok(&["start", "T-1"]);
    world.ok(&["undo"]);
    world.ok(&["redo"]);
    let log = world.ok(&["log"]);
    for words in ["T-1 note added; T-1 taken off hold", "undid 4: ", "redid 4: "] {
        assert!(log.contains(words), "{words}: {log}");
    }
    // Nothing but the last line says that there is more.
    let run = world.punch(&["log", "-n", "2"]);
    assert_eq!(run.stderr, "4 older; `punch log -n 10` shows more\n");
    // The revision that is redone may be older than what is listed.
    assert!(world.ok(&["log", "-n", "1"]).contains("redid 4: "));
    let run = world.punch(&["undo", "3"]);
    assert!(!run.stderr.contains("_at") && !run.stderr.contains("last_error"), "{}", run.stderr);
}

#[test]
fn small_answers_say_what_newcomers_ask() {
    let world = World::new();
    assert_eq!(world.ok(&["schedule"]), "Nothing to schedule: no todo is open.\n");
    world.ok(&["add", "a", "b", "c"]);
    assert_eq!(world.ok(&["add", "a"]), "[ ] T-4  a\nnote: `T-4` and `T-1` have the same text\n");
    let run = world.punch(&["list", "-n", "2"]);
    assert_eq!(
        run.stderr,
        "2 more todos not shown; `punch list -n 4` shows all, filters show fewer (`punch help filters`)\n"
    );
    assert_eq!(world.punch(&["list", "-n", "4"]).stderr, "");
    assert!(world.ok(&["doctor"]).ends_with("No problems found.\n"));
    world.ok(&["done", "T-1"]);
    world.ok(&["stats", "record", "T-1", "--tokens", "12345"]);
    let stats = world.ok(&["stats"]);
    assert!(
        stats.contains("    20,000     12,345    62%  T-1")
            && stats.contains("all finished: 1 todo took 62% of the estimate\n"),
        "{stats}"
    );
    assert!(!stats.contains("half of them"), "{stats}");
    let code = world.ok(&["help", "NOT_READY"]);
    assert!(code.starts_with("not_ready\nCause: ") && code.contains("\nWhat to do: "), "{code}");
    assert!(world.ok(&["help"]).contains("4 a run reached a limit, 70 bug, 130 interrupted"));
}

/// Two machines that both add work under the same ids, and carry the plan back and forth.
#[test]
fn a_plan_that_goes_back_and_forth_is_not_doubled() {
    let (here, there) = (World::new(), World::new());
    let carry = |from: &World, to: &World| {
        let plan = from.ok(&["export", "--format", "json"]);
        let run = to.feed(&["import", "-"], &plan);
        assert_eq!(run.exit, Some(0), "{}", run.stderr);
        run.stdout
    };
    let texts = |world: &World| {
        let list = world.ok(&["list", "--all"]);
        let mut texts: Vec<String> = list.lines().map(|line| line[line.find("  ").unwrap()..].trim().into()).collect();
        texts.sort();
        texts
    };
    here.ok(&["add", "one", "two"]);
    carry(&here, &there);
    here.ok(&["add", "from here", "also from here"]);
    there.ok(&["add", "from there"]);
    carry(&here, &there);
    carry(&there, &here);
    let all = ["also from here", "from here", "from there", "one", "two"];
    assert_eq!((texts(&here), texts(&there)), (all.map(str::to_owned).to_vec(), all.map(str::to_owned).to_vec()));
    // A todo that has another id there is reworded there, and done here.
    let list = there.ok(&["list"]);
    let id = list.lines().find(|line| line.ends_with("  from here")).and_then(|line| line.split(' ').nth(2)).unwrap();
    there.ok(&["edit", id, "--content", "from here, better"]);
    here.ok(&["done", "from there"]);
    carry(&there, &here);
    carry(&here, &there);
    let all = ["also from here", "from here, better", "from there", "one", "two"];
    assert_eq!((texts(&here), texts(&there)), (all.map(str::to_owned).to_vec(), all.map(str::to_owned).to_vec()));
    assert!(there.ok(&["show", "from there"]).starts_with("[x]"));
    let nothing = "Nothing changed: the plan already has all 5 todos from this file.\n";
    assert_eq!((carry(&there, &here).as_str(), carry(&here, &there).as_str()), (nothing, nothing));
}

#[test]
fn formats_have_the_names_that_people_type() {
    let world = World::new();
    world.ok(&["add", "a"]);
    assert!(world.ok(&["export", "--format", "json"]).starts_with("{\n  \"schema\": 1"));
    world.ok(&["export", "--format", "TaskMaster"]);
    let run = world.punch(&["export", "--format", "chekclist"]);
    assert!(run.exit == Some(2) && run.stderr.contains("unknown format; did you mean `checklist`?"), "{}", run.stderr);
    assert_eq!(world.ok(&["export", "plan.json"]), "Wrote 1 todo to plan.json (JSON)\n");
    let unclear = world.ok(&["export", "plan.xyz"]);
    assert!(unclear.contains("note: the file name does not say which format; `--format` chooses one\n"), "{unclear}");
    let run = world.punch(&["import", "nope.md"]);
    assert!(run.stderr.starts_with("error: cannot use the file `nope.md`: no such file"), "{}", run.stderr);
    assert!(!run.stderr.contains("os error"), "{}", run.stderr);
}

#[test]
fn what_is_added_is_what_was_meant() {
    let world = World::new();
    world.ok(&["add", "a", "--label", "auth,web"]);
    assert_eq!(world.ok(&["list", "--label", "web"]), "[ ] T-1  a  (#auth #web)\n");
    world.ok(&["edit", "T-1", "--drop-label", "auth,web"]);
    assert_eq!(world.ok(&["list"]), "[ ] T-1  a\n");
    // The todo that is being added has no id yet.
    let run = world.punch(&["add", "b", "--needs", "T-99", "--json"]);
    assert!(run.stdout.contains("\"unknown_dependency\"") && !run.stdout.contains("T-2"), "{}", run.stdout);
    let pasted = world.feed(&["add"], "- [ ] b\n- [x] done before\n- [-] given up\n").stdout;
    assert_eq!(pasted, "[ ] T-2  b\nnote: skipped 2 lines already checked off; `punch import` keeps them\n");
    assert_eq!(world.ok(&["list", "--failed"]), "No todo has failed.\n");
    world.ok(&["move", "T-2", "--top"]);
    world.ok(&["move", "T-2", "--bottom"]);
}

#[test]
fn the_log_of_one_todo_and_of_a_redo() {
    let world = World::new();
    world.ok(&["add", "a", "b"]);
    world.ok(&["done", "T-1"]);
    world.ok(&["undo"]);
    world.ok(&["redo"]);
    let log = world.ok(&["log", "T-1"]);
    assert_eq!(log, world.ok(&["log", "--todo", "T-1"]));
    assert!(log.contains("redid 2: T-1\n"), "{log}");
    assert!(!world.ok(&["log", "T-2"]).contains("T-1 completed"));
    world.ok(&["edit", "T-2", "--needs", "T-1"]);
    world.ok(&["done", "T-2"]);
    world.ok(&["reopen", "T-1"]);
    let log = world.ok(&["log", "T-2", "-n", "1"]);
    assert!(log.contains("T-2 may be outdated: something it needs was reopened"), "{log}");
    world.ok(&["rm", "T-2"]);
    assert!(world.punch(&["show", "T-2"]).stderr.contains("`punch log` names archived ones"));
}

#[test]
fn a_noun_alone_lists_what_there_is() {
    let world = World::new();
    assert_eq!(world.ok(&["config"]), world.ok(&["config", "show"]));
    world.ok(&["add", "a"]);
    assert_eq!(world.ok(&["checkpoint"]), "No checkpoints.\n");
    assert_eq!(world.ok(&["token"]), world.ok(&["token", "list"]));
    world.ok(&["checkpoint", "save", "before lunch"]);
    assert!(world.ok(&["checkpoint"]).contains("before lunch"));
}

#[test]
fn everything_in_progress_is_counted() {
    let world = World::new();
    world.ok(&["config", "set", "policy.in_progress", "any"]);
    world.ok(&["add", "a", "b", "c", "d"]);
    world.ok(&["start", "T-1", "T-2", "T-3", "T-4"]);
    assert!(world.ok(&[]).contains("\n             and 1 more: punch list is:working\n"), "{}", world.ok(&[]));
    assert_eq!(world.ok(&["list", "is:working"]).lines().count(), 4);
    world.ok(&["fail", "T-1", "x"]);
    world.ok(&["fail", "T-1", "y"]);
    assert!(world.ok(&["fail", "T-1", "z"]).ends_with("it had already failed; only the error was updated\n"));
}

/// Users with only the program do not have the documentation.
#[test]
fn help_does_not_send_anyone_to_files_of_the_repository() {
    let world = World::new();
    for verb in ["serve", "mcp", "hook", "run", "worker", "install", "completions"] {
        let help = world.ok(&["help", verb]);
        assert!(!help.contains("docs/"), "{help}");
    }
    assert!(!world.punch(&["completions", "bosh"]).stderr.contains("man"));
}
