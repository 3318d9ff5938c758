//! What people mistype, forget and misread: the answer names it, says what to type, and changes nothing else.

use crate::world::World;

#[test]
fn an_answer_to_a_todo_that_asks_nothing_says_so() {
    let world = World::new();
    world.ok(&["add", "Design it", "Write it"]);
    world.ok(&["hold", "T-1", "which color?"]);
    let said = world.ok(&["unhold", "T-2", "--note", "red"]);
    assert!(said.contains("note: `T-2` was not on hold") && said.contains("punch inbox"), "{said}");
    world.ok(&["undo"]);
    assert!(!world.ok(&["show", "T-2"]).contains("red"));
    let said = world.ok(&["unhold", "T-1", "--note", "red"]);
    assert!(said.contains("which color? — red") && !said.contains("was not on hold"), "{said}");
}

#[test]
fn verbs_of_other_tools_lead_to_ours_and_flags_only_to_near_ones() {
    let world = World::new();
    for (given, meant) in
        [("remove", "rm"), ("delete", "rm"), ("complete", "done"), ("create", "add"), ("close", "done")]
    {
        let said = world.punch(&[given, "x"]).stderr;
        assert!(said.contains(&format!("'{meant}'")), "{given}: {said}");
    }
    for far in ["--done", "--sort"] {
        let said = world.punch(&["list", far]).stderr;
        assert!(!said.contains("similar"), "{far}: {said}");
    }
    let said = world.punch(&["list", "--reddy"]).stderr;
    assert!(said.contains("'--ready'"), "{said}");
}

/// A check that fails later is named with its exit code, here and in the log. Nothing speaks of git.
#[test]
fn a_check_of_a_finished_todo_that_fails_says_so() {
    let world = World::with_git();
    world.ok(&["add", "Write it", "--verify", "test -e out"]);
    let done = world.ok(&["done", "T-1"]);
    assert!(done.contains("did not run; `punch verify T-1` runs it"), "{done}");
    let unknown = world.punch(&["verify", "T-1"]);
    assert!(
        unknown.stdout.contains("hint: ") && unknown.stdout.contains("punch verify --allow T-1"),
        "{}",
        unknown.render()
    );
    world.ok(&["verify", "--allow", "T-1"]);
    let run = world.punch(&["verify", "T-1"]);
    assert_eq!(run.exit, Some(1));
    assert!(run.stdout.starts_with("failed   T-1  Write it\n"), "{}", run.stdout);
    assert!(run.stdout.contains("`test -e out` failed with exit code 1"), "{}", run.stdout);
    let log = world.ok(&["log", "-n", "1"]);
    assert!(log.contains("failed with exit code 1") && log.contains("its check now fails"), "{log}");
    assert!(!log.contains("git") && !log.contains("evidence changed"), "{log}");
    let again = world.ok(&["done", "T-1"]);
    assert!(again.contains("`punch verify T-1` checks it again"), "{again}");
}

#[test]
fn what_is_closed_does_not_begin_again_without_a_word() {
    let world = World::new();
    world.ok(&["add", "Design it", "Write it"]);
    world.ok(&["cancel", "T-1"]);
    assert!(world.ok(&["start", "T-1"]).contains("it was cancelled and is open again"));
    for _ in 0..2 {
        world.ok(&["fail", "T-2", "no paper"]);
    }
    let why = world.ok(&["why", "T-2"]);
    assert_eq!(why, "[!] T-2  Write it\nT-2 has failed\nlast error: no paper\nnext: `punch reopen T-2`\n");
}

#[test]
fn why_and_next_name_the_same_todo() {
    let world = World::new();
    world.ok(&["add", "Buy paper", "Write it"]);
    world.ok(&["add", "Decide", "--priority", "urgent"]);
    world.ok(&["add", "Print it", "--needs", "T-1,T-2,T-3"]);
    assert!(world.ok(&["next"]).contains("T-3"));
    let why = world.ok(&["why", "T-4"]);
    assert!(why.ends_with("next: `punch start T-3`\n"), "{why}");
}

#[test]
fn a_move_needs_a_place() {
    let world = World::new();
    world.ok(&["add", "a", "b"]);
    let run = world.punch(&["move", "T-1"]);
    assert_eq!(run.exit, Some(2));
    assert!(run.stderr.contains("--before ID"), "{}", run.stderr);
    assert_eq!(world.ok(&["list"]), "[ ] T-1  a\n[ ] T-2  b\n");
}

/// The text of `punch edit` groups todos by phase. Saving it moves nothing that the user did not move.
#[cfg(unix)]
#[test]
fn saving_the_plan_in_the_editor_keeps_its_order() {
    let world = World::new();
    for (text, phase) in [("a1", "A"), ("x1", ""), ("b1", "B"), ("a2", "A"), ("x2", ""), ("b2", "B")] {
        let phase: &[&str] = if phase.is_empty() { &[] } else { &["--phase", phase] };
        world.ok(&[&["add", text], phase].concat());
    }
    let edit = |script: &str| {
        let editor = world.root.join("editor.sh");
        std::fs::write(&editor, format!("sed -i '{script}' \"$1\"\n")).unwrap();
        let mut command = world.command(&["edit"]);
        let run = crate::world::finished(command.env("EDITOR", format!("sh {}", editor.display())).output().unwrap());
        assert_eq!(run.exit, Some(0), "{}", run.render());
        run.stdout
    };
    let order = || {
        let list = world.ok(&["list"]);
        let texts: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().nth(3)).collect();
        texts.join(" ")
    };
    assert_eq!(edit("s/  b1/  b0/"), "1 changed\n  changed T-3  b0\n");
    assert_eq!(order(), "a1 x1 b0 a2 x2 b2");
    // A line moved down within its phase, a new line, a line that is deleted.
    edit("/T-1  a1/{h;d};/T-4  a2/{G}");
    assert_eq!(order(), "a2 x1 b0 a1 x2 b2");
    edit("/T-3  b0/a - [ ] b1");
    assert_eq!(order(), "a2 x1 b0 b1 a1 x2 b2");
    edit("/T-2  x1/d");
    assert_eq!(order(), "a2 b0 b1 a1 x2 b2");
    // A line moved to another phase stands where it was put.
    edit("/T-5  x2/{h;d};/T-6  b2/{G}");
    assert_eq!(order(), "a2 b0 b1 a1 b2 x2");
}

#[test]
fn a_tree_counts_what_is_done_and_hidden() {
    let world = World::new();
    world.ok(&["add", "a", "b", "c", "--phase", "Core"]);
    world.ok(&["done", "T-1"]);
    assert!(world.ok(&["list", "--tree"]).starts_with("Core  1/3 done\n"));
    assert!(world.ok(&["list", "--tree", "--text", "b"]).starts_with("Core  1/3 done\n"));
}

#[test]
fn words_for_priorities_and_labels_work_everywhere() {
    let world = World::new();
    let run = world.feed(&["add"], "# Docs\n- [ ] Write it #docs #web\n- [x] old\n* Fix #12 -p\nplain #docs\n");
    assert_eq!(
        run.stdout,
        "[ ] T-1  Write it\n[ ] T-2  Fix #12 -p\n[ ] T-3  plain #docs\nnote: skipped 1 line already checked off; `punch import` keeps them\n"
    );
    assert_eq!(world.ok(&["list", "--label", "docs"]), "[ ] T-1  Write it  (#docs #web)\n");
    world.ok(&["edit", "T-2", "-p", "high"]);
    assert_eq!(world.ok(&["list", "p:high"]), "[ ] T-2  Fix #12 -p  (P2)\n");
}

/// Todos that come into a phase that is there come into that one.
#[test]
fn imported_phases_are_not_doubled() {
    let world = World::new();
    let list = "# Alpha\n\n- [ ] one\n\n# Beta\n\n- [ ] two\n";
    assert_eq!(world.feed(&["import", "-"], list).exit, Some(0));
    assert_eq!(world.feed(&["import", "-", "--new"], list).exit, Some(0));
    assert_eq!(world.feed(&["import", "-", "--new"], "# Beta\n\n- [ ] three\n\n# Gamma\n\n- [ ] four\n").exit, Some(0));
    assert_eq!(
        world.ok(&["list", "--tree"]),
        "Alpha  0/2 done\n  [ ] T-1  one\n  [ ] T-3  one\nBeta  0/3 done\n  [ ] T-2  two\n  [ ] T-4  two\n  [ ] T-5  three\n\
         Gamma  0/1 done\n  [ ] T-6  four\n"
    );
}

#[test]
fn ids_and_dependencies_that_cannot_be_are_named() {
    let world = World::new();
    world.ok(&["add", "a"]);
    let run = world.punch(&["edit", "T-1", "--needs", "T-1"]);
    assert!(run.stderr.starts_with("error: `T-1` cannot depend on itself\n"), "{}", run.stderr);
    let run = world.punch(&["add", "b", "--id", "T-1"]);
    assert!(run.stderr.starts_with("error: id `T-1` is already in use\nhint: choose another id"), "{}", run.stderr);
}

/// Whoever repeats a run in worktrees without a flag does not get agents into their own files.
#[cfg(unix)]
#[test]
fn a_repeated_run_stays_in_worktrees() {
    let world = World::with_git();
    world.ok(&["add", "one"]);
    world.ok(&["run", "--agent", "exec:touch made", "--worktrees", "--agents", "2"]);
    world.ok(&["add", "two"]);
    let run = world.punch(&["run"]);
    assert_eq!(run.exit, Some(0), "{}", run.render());
    assert!(
        run.stderr.contains("using the options of run 1: 2 agents (exec:touch made), in worktrees\n"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("run 2 begins with 2 agents"), "{}", run.stderr);
    assert!(!world.project.join("made").exists());
}
