//! Verbs on a real terminal: colors, widths, the pager; and what an agent or a pipe gets instead.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::thread;

use insta::assert_snapshot;

use crate::run::terminal::{SIZE, Watched};
use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.ok(&["add", "Write the parser, with a text that is too long for sixty columns of a terminal"]);
    world.ok(&["add", "Ship it", "--needs", "T-1", "--priority", "1"]);
    world.ok(&["start", "T-1", "--owner", "ann"]);
    world
}

/// What a verb writes to a terminal, escapes and all.
fn raw(world: &World, arguments: &[&str], set: &[(&str, &str)]) -> String {
    let mut command = world.command(arguments);
    command.env_remove("COLUMNS").envs(set.iter().copied());
    let watched = Watched::start(command);
    watched.ends_raw()
}

#[test]
fn a_terminal_gets_colors_signs_and_its_own_width() {
    let world = world();
    let list = raw(&world, &["list"], &[]);
    assert!(list.contains("\u{1b}[36mT-1") && list.contains('▶') && list.contains('…'), "{list:?}");
    assert!(list.contains("\u{1b}[1mP1\u{1b}[0m"), "{list:?}");
    let plain = raw(&world, &["list"], &[("NO_COLOR", "1")]);
    assert!(!plain.contains('\u{1b}') && plain.contains('▶'), "{plain:?}");
    assert!(plain.lines().all(|line| line.trim_end().chars().count() <= 60), "{plain:?}");
    assert!(!raw(&world, &["list", "--color", "never"], &[]).contains('\u{1b}'));
    let dumb = raw(&world, &["list"], &[("TERM", "dumb")]);
    assert!(!dumb.contains('\u{1b}'), "{dumb:?}");
    assert!(raw(&world, &["log"], &[]).contains("a moment ago"));
    let error = raw(&world, &["show", "nothing"], &[]);
    assert!(error.contains("\u{1b}[1;31merror:\u{1b}[0m"), "{error:?}");
}

/// A plan with work in several states.
fn busy() -> World {
    let world = world();
    world.ok(&["add", "Choose a name", "Set up CI", "Publish it"]);
    world.ok(&["hold", "T-3", "which one?"]);
    world.ok(&["fail", "T-4", "--error", "no runner"]);
    world.ok(&["fail", "T-4", "--error", "no runner"]);
    world
}

const DAILY: [&[&str]; 8] =
    [&["status"], &["list"], &["list", "--tree"], &["inbox"], &["show", "T-2"], &["log"], &["graph"], &["why", "T-2"]];

/// What verbs write to a terminal of this width.
fn screen(world: &World, verb: &[&str], columns: &str, set: &[(&str, &str)]) -> String {
    let set = [&[("COLUMNS", columns), ("PUNCH_PAGER", "")], set].concat();
    let text = raw(world, verb, &set).replace("\r\n", "\n").replace('\u{1b}', "^");
    // How long the work has taken is up to the machine.
    let text = (0..10).fold(text, |text, second| text.replace(&format!("^[2m{second} s^[0m"), "^[2mN s^[0m"));
    (0..10).fold(text, |text, second| text.replace(&format!("· {second} s\n"), "· N s\n"))
}

/// Daily verbs on a terminal of this width, with escapes spelled out: what is bold, dim or colored is part of the design.
fn colored(columns: &str) -> String {
    let world = busy();
    DAILY.iter().map(|verb| format!("$ punch {}\n{}", verb.join(" "), screen(&world, verb, columns, &[]))).collect()
}

/// Without colors the same words stand in the same places, and nothing is wider than the terminal.
#[test]
fn plain_text_is_colored_text_without_colors() {
    let world = busy();
    for columns in [80, 120] {
        let width = columns.to_string();
        for verb in DAILY.iter().chain(&[&["help"][..], &["help", "add"], &["stats"], &["schedule"], &["next"]]) {
            let plain = screen(&world, verb, &width, &[("NO_COLOR", "1")]);
            assert!(!plain.contains("^["), "{verb:?}: {plain}");
            let colored = screen(&world, verb, &width, &[]);
            let mut parts = colored.split("^[");
            let first = parts.next().unwrap_or_default().to_owned();
            let bare = parts.fold(first, |text, part| text + part.split_once('m').unwrap_or_default().1);
            assert_eq!(bare, plain, "{verb:?} at {columns}");
            let widest = plain.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= columns, "{verb:?} at {columns}: {plain}");
        }
    }
}

/// A command to type is shown whole: on a line of its own where the text leaves no room.
#[test]
fn commands_on_the_first_screen_are_never_cut() {
    let world = World::new();
    world.ok(&["add", "Write unit tests for every part of the parser", "--verify", "cargo test --workspace"]);
    world.ok(&["add", "b", "--verify", "true"]);
    world.ok(&["cancel", "T-2"]);
    world.ok(&["add", "Release the new version to everybody who waits", "--needs", "T-2"]);
    for columns in ["60", "80", "100", "120"] {
        let screen = screen(&world, &["status"], columns, &[("NO_COLOR", "1")]);
        for item in world.json(&["inbox"])["items"].as_array().unwrap() {
            let command = item["action"].as_str().unwrap();
            assert!(screen.contains(command), "{columns}: {command}\n{screen}");
        }
    }
}

#[test]
fn colors_at_80_columns() {
    assert_snapshot!(colored("80"), @r#"
    $ punch status
    ^[1mmain^[0m^[2m ·^[0m 0 of 5 done  ^[2m────────────────────────^[0m  0%

    ^[1mNeeds you^[0m    ^[35m‖^[0m ^[36mT-3^[0m  Choose a name: which one?
                   ^[1mpunch unhold T-3 --note '…'^[0m
    ^[1mFailed^[0m       ^[1;31m✗^[0m ^[36mT-4^[0m  Set up CI: no runner                        ^[1mpunch reopen T-4^[0m
    ^[1mIn progress^[0m  ^[33m▶^[0m ^[36mT-1^[0m  Write the parser, with a text that is too long…   ^[34m@ann^[0m^[2m ·^[0m ^[2mN s^[0m
                   ^[1mpunch show T-1^[0m
    ^[1mNext^[0m         ○ ^[36mT-5^[0m  Publish it                                  ^[1mpunch start T-5^[0m

    ^[2mNo agent is connected: `punch install` connects the ones you use^[0m
    $ punch list
    ^[33m▶^[0m ^[36mT-1^[0m  Write the parser, with a text that is too long for sixty col…  ^[34m@ann^[0m^[2m ·^[0m ^[2mN s^[0m
    ^[2m◌^[0m ^[36mT-2^[0m  Ship it                                              ^[1mP1^[0m^[2m ·^[0m ^[2mwaiting for T-1^[0m
    ^[35m‖^[0m ^[36mT-3^[0m  Choose a name                                        ^[2mon hold: which one?^[0m
    ^[1;31m✗^[0m ^[36mT-4^[0m  Set up CI                                            ^[2mno runner^[0m
    ○ ^[36mT-5^[0m  Publish it
    $ punch list --tree
    ^[33m▶^[0m ^[36mT-1^[0m  Write the parser, with a text that is too long for sixty col…  ^[34m@ann^[0m^[2m ·^[0m ^[2mN s^[0m
    ^[2m◌^[0m ^[36mT-2^[0m  Ship it                                              ^[1mP1^[0m^[2m ·^[0m ^[2mwaiting for T-1^[0m
    ^[35m‖^[0m ^[36mT-3^[0m  Choose a name                                        ^[2mon hold: which one?^[0m
    ^[1;31m✗^[0m ^[36mT-4^[0m  Set up CI                                            ^[2mno runner^[0m
    ○ ^[36mT-5^[0m  Publish it
    $ punch inbox
    ^[1mhold^[0m      ^[36mT-3^[0m  Choose a name: which one?
              ^[1mpunch unhold T-3 --note '…'^[0m
    ^[1mfailed^[0m    ^[36mT-4^[0m  Set up CI: no runner
              ^[1mpunch reopen T-4^[0m
    $ punch show T-2
    ^[2m◌^[0m ^[36mT-2^[0m  Ship it
    ^[1m  why:^[0m waiting for T-1
    ^[1m  priority:^[0m 1
    ^[1m  needs:^[0m T-1  Write the parser, with a text that is too long for sixty columns
      of a terminal
    ^[1m  parallel group:^[0m 2
    ^[1m  times:^[0m added a moment ago
    $ punch log
    ^[36m7^[0m^[2m  a moment ago^[0m    ^[34muser^[0m   T-4 failed (attempt 2)^[2m  Set up CI^[0m
    ^[36m6^[0m^[2m  a moment ago^[0m    ^[34muser^[0m   T-4 failed (attempt 1, to be retried): no runner^[2m  Set…^[0m
    ^[36m5^[0m^[2m  a moment ago^[0m    ^[34muser^[0m   T-3 put on hold^[2m  Choose a name^[0m
    ^[36m4^[0m^[2m  a moment ago^[0m    ^[34muser^[0m   T-3, T-4, T-5 added
    ^[36m3^[0m^[2m  a moment ago^[0m    ^[34mann^[0m    T-1 started^[2m  Write the parser, with a text that is to…^[0m
    ^[36m2^[0m^[2m  a moment ago^[0m    ^[34muser^[0m   T-2 added: Ship it
    ^[36m1^[0m^[2m  a moment ago^[0m    ^[34muser^[0m   T-1 added: Write the parser, with a text that is too…
    $ punch graph
    ^[1mgroup 1^[0m
      ^[33m▶^[0m ^[36mT-1^[0m  Write the parser, with a text that is too long for sixty columns of a…
      ^[35m‖^[0m ^[36mT-3^[0m  Choose a name
      ○ ^[36mT-5^[0m  Publish it
    ^[1mgroup 2^[0m
      ^[2m◌^[0m ^[36mT-2^[0m  Ship it^[2m  ← T-1^[0m
    $ punch why T-2
    ^[2m◌^[0m ^[36mT-2^[0m  Ship it
    ^[36mT-2^[0m is waiting for ^[36mT-1^[0m "Write the parser, with a text that is t…" (in progress
    by ann)
    nothing is waiting for ^[36mT-2^[0m
    "#);
}

#[test]
fn colors_at_120_columns() {
    assert_snapshot!(colored("120"), @r#"
    $ punch status
    ^[1mmain^[0m^[2m ·^[0m 0 of 5 done  ^[2m────────────────────────^[0m  0%

    ^[1mNeeds you^[0m    ^[35m‖^[0m ^[36mT-3^[0m  Choose a name: which one?
                   ^[1mpunch unhold T-3 --note '…'^[0m
    ^[1mFailed^[0m       ^[1;31m✗^[0m ^[36mT-4^[0m  Set up CI: no runner                                                            ^[1mpunch reopen T-4^[0m
    ^[1mIn progress^[0m  ^[33m▶^[0m ^[36mT-1^[0m  Write the parser, with a text that is too long for sixty columns of a terminal  ^[34m@ann^[0m^[2m ·^[0m ^[2mN s^[0m
                   ^[1mpunch show T-1^[0m
    ^[1mNext^[0m         ○ ^[36mT-5^[0m  Publish it                                                                      ^[1mpunch start T-5^[0m

    ^[2mNo agent is connected: `punch install` connects the ones you use^[0m
    $ punch list
    ^[33m▶^[0m ^[36mT-1^[0m  Write the parser, with a text that is too long for sixty columns of a terminal  ^[34m@ann^[0m^[2m ·^[0m ^[2mN s^[0m
    ^[2m◌^[0m ^[36mT-2^[0m  Ship it                                                                         ^[1mP1^[0m^[2m ·^[0m ^[2mwaiting for T-1^[0m
    ^[35m‖^[0m ^[36mT-3^[0m  Choose a name                                                                   ^[2mon hold: which one?^[0m
    ^[1;31m✗^[0m ^[36mT-4^[0m  Set up CI                                                                       ^[2mno runner^[0m
    ○ ^[36mT-5^[0m  Publish it
    $ punch list --tree
    ^[33m▶^[0m ^[36mT-1^[0m  Write the parser, with a text that is too long for sixty columns of a terminal  ^[34m@ann^[0m^[2m ·^[0m ^[2mN s^[0m
    ^[2m◌^[0m ^[36mT-2^[0m  Ship it                                                                         ^[1mP1^[0m^[2m ·^[0m ^[2mwaiting for T-1^[0m
    ^[35m‖^[0m ^[36mT-3^[0m  Choose a name                                                                   ^[2mon hold: which one?^[0m
    ^[1;31m✗^[0m ^[36mT-4^[0m  Set up CI                                                                       ^[2mno runner^[0m
    ○ ^[36mT-5^[0m  Publish it
    $ punch inbox
    ^[1mhold^[0m      ^[36mT-3^[0m  Choose a name: which one?
              ^[1mpunch unhold T-3 --note '…'^[0m
    ^[1mfailed^[0m    ^[36mT-4^[0m  Set up CI: no runner
              ^[1mpunch reopen T-4^[0m
    $ punch show T-2
    ^[2m◌^[0m ^[36mT-2^[0m  Ship it
    ^[1m  why:^[0m waiting for T-1
    ^[1m  priority:^[0m 1
    ^[1m  needs:^[0m T-1  Write the parser, with a text that is too long for sixty columns of a terminal
    ^[1m  parallel group:^[0m 2
    ^[1m  times:^[0m added a moment ago
    $ punch log
    ^[36m7^[0m^[2m  a moment ago^[0m    ^[34muser^[0m   T-4 failed (attempt 2)^[2m  Set up CI^[0m
    ^[36m6^[0m^[2m  a moment ago^[0m    ^[34muser^[0m   T-4 failed (attempt 1, to be retried): no runner^[2m  Set up CI^[0m
    ^[36m5^[0m^[2m  a moment ago^[0m    ^[34muser^[0m   T-3 put on hold^[2m  Choose a name^[0m
    ^[36m4^[0m^[2m  a moment ago^[0m    ^[34muser^[0m   T-3, T-4, T-5 added
    ^[36m3^[0m^[2m  a moment ago^[0m    ^[34mann^[0m    T-1 started^[2m  Write the parser, with a text that is too long for sixty columns of a terminal^[0m
    ^[36m2^[0m^[2m  a moment ago^[0m    ^[34muser^[0m   T-2 added: Ship it
    ^[36m1^[0m^[2m  a moment ago^[0m    ^[34muser^[0m   T-1 added: Write the parser, with a text that is too long for sixty columns of a terminal
    $ punch graph
    ^[1mgroup 1^[0m
      ^[33m▶^[0m ^[36mT-1^[0m  Write the parser, with a text that is too long for sixty columns of a terminal
      ^[35m‖^[0m ^[36mT-3^[0m  Choose a name
      ○ ^[36mT-5^[0m  Publish it
    ^[1mgroup 2^[0m
      ^[2m◌^[0m ^[36mT-2^[0m  Ship it^[2m  ← T-1^[0m
    $ punch why T-2
    ^[2m◌^[0m ^[36mT-2^[0m  Ship it
    ^[36mT-2^[0m is waiting for ^[36mT-1^[0m "Write the parser, with a text that is t…" (in progress by ann)
    nothing is waiting for ^[36mT-2^[0m
    "#);
}

#[test]
fn a_pipe_and_an_agent_get_plain_text_unless_colors_are_asked_for() {
    let world = world();
    let piped = world.ok(&["list"]);
    assert!(!piped.contains('\u{1b}') && piped.starts_with("[>] T-1"), "{piped:?}");
    assert!(world.ok(&["list", "--color", "always"]).contains('\u{1b}'));
    world.ok(&["config", "set", "view.color", "always"]);
    assert!(world.ok(&["list"]).contains('\u{1b}'), "the setting counts too");
    world.ok(&["config", "unset", "view.color"]);
    let agent = raw(&world, &["list"], &[("CLAUDECODE", "1")]);
    assert!(!agent.contains('\u{1b}'), "{agent:?}");
}

#[test]
fn long_output_goes_through_the_pager_but_never_for_an_agent() {
    let world = World::new();
    let many: Vec<String> = (1..=40).map(|n| format!("Todo {n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    world.ok(&[&["add"], many.as_slice()].concat());
    let pager = world.root.join("pager.sh");
    fs::write(&pager, "#!/bin/sh\necho PAGED; cat\n").unwrap();
    fs::set_permissions(&pager, fs::Permissions::from_mode(0o755)).unwrap();
    let pager = pager.to_str().unwrap();
    assert!(raw(&world, &["list"], &[("PUNCH_PAGER", pager)]).contains("PAGED"));
    assert!(!raw(&world, &["list", "-n", "3"], &[("PUNCH_PAGER", pager)]).contains("PAGED"), "it fits");
    assert!(!raw(&world, &["list"], &[("PUNCH_PAGER", pager), ("CLAUDECODE", "1")]).contains("PAGED"));
    assert!(!raw(&world, &["rm", "--all"], &[("PUNCH_PAGER", pager)]).contains("PAGED"), "answers to changes stay");
}

#[test]
fn a_terminal_gets_200_todos_and_the_way_to_see_more() {
    let world = World::new();
    let many: Vec<String> = (1..=250).map(|n| format!("Todo number {n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    world.ok(&[&["add"], many.as_slice()].concat());
    let plain = [("NO_COLOR", "1"), ("PUNCH_PAGER", "cat")];
    let rows = |text: &str| text.lines().filter(|line| line.contains("Todo number")).count();
    let list = raw(&world, &["list"], &plain);
    assert_eq!(rows(&list), 200, "{list}");
    assert!(list.contains("50 more todos not shown; `punch list -n 250` shows all"), "{list}");
    let tree = raw(&world, &["tree"], &plain);
    assert!(rows(&tree) == 200 && tree.contains("50 more todos not shown"), "{tree}");
    let search = raw(&world, &["list", "number"], &plain);
    assert!(rows(&search) == 200 && search.contains("more todos match"), "{search}");
    let few = raw(&world, &["list", "number 24"], &plain);
    assert!(rows(&few) < 200 && !few.contains("more todos"), "{few}");
    assert_eq!(rows(&raw(&world, &["list", "-n", "230"], &plain)), 230);
    assert_eq!(rows(&world.ok(&["list"])), 250, "a pipe gets everything");
    assert_eq!(world.json(&["list"])["todos"].as_array().unwrap().len(), 250);
}

#[test]
fn long_work_shows_progress_on_a_terminal_and_leaves_none_of_it() {
    let world = World::new();
    let gate = world.project.join("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
    world.ok(&["add", "Write it", "--verify", "cat gate"]);
    world.ok(&["verify", "--allow", "T-1"]);
    let watched = Watched::start(world.command(&["verify", "T-1"]));
    // The check ends when the gate opens, which is after the line has been seen.
    while !watched.printed().contains("working.") {
        thread::yield_now();
    }
    fs::write(&gate, "").unwrap();
    let printed = watched.ends_raw();
    let (_, after) = printed.rsplit_once("working").unwrap();
    let (_, rest) = after.split_once("\r\u{1b}[K").unwrap_or_else(|| panic!("the line stays: {printed:?}"));
    assert!(rest.contains("T-1"), "{printed:?}");
}

#[test]
fn a_picture_of_the_board_leaves_a_line_for_the_prompt() {
    let world = world();
    let printed = raw(&world, &["watch", "--once"], &[("NO_COLOR", "1")]);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), usize::from(SIZE.1) - 1, "the title is still on the screen: {printed}");
    assert!(lines[0].contains("main r"), "{printed}");
}

#[test]
fn without_a_choice_of_yours_an_editor_that_is_installed_opens() {
    let world = world();
    let bin = world.root.join("editors");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink("/bin/sh", bin.join("sh")).unwrap();
    let editor = "#!/bin/sh\nPATH=/usr/bin:/bin sed -i 's/Ship it/Send it/' \"$1\"\n";
    fs::write(bin.join("nano"), editor).unwrap();
    fs::set_permissions(bin.join("nano"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = world.command(&["edit"]);
    command.env("PATH", &bin).env_remove("VISUAL").env_remove("EDITOR");
    let (exit, screen) = Watched::start(command).ends();
    assert_eq!(exit, Some(0), "{screen:?}");
    assert!(world.ok(&["list"]).contains("Send it"), "{screen:?}");
}

/// An agent may have a terminal of its own. Nothing is asked there: it would answer for the user, or wait forever.
#[test]
fn an_agent_with_a_terminal_is_asked_nothing() {
    let world = world();
    fs::create_dir_all(world.root.join("home/.claude")).unwrap();
    fs::write(world.project.join("plan.md"), "mine").unwrap();
    for verb in [&["install", "claude"][..], &["init"], &["uninstall", "claude"], &["export", "plan.md"]] {
        let mut command = world.command(verb);
        command.env("CLAUDECODE", "1");
        let (_, screen) = Watched::start(command).ends();
        let screen = screen.join("\n");
        assert!(!screen.contains("[y/N"), "{verb:?}: {screen}");
    }
    assert!(!world.project.join(".claude").exists());
    let mut asked = Watched::start(world.command(&["install", "claude"]));
    while !asked.printed().contains("[y/N") {
        thread::yield_now();
    }
    asked.types("n\n");
    assert_eq!(asked.ends().0, Some(0));
}

/// Times are relative wherever a user reads them, and in UTC where a program does.
#[test]
fn a_terminal_gets_relative_times() {
    let world = World::new();
    world.ok(&["add", "Wait for the quota", "Ship it", "Write it"]);
    world.ok(&["hold", "T-1", "quota", "--for", "3h"]);
    world.ok(&["edit", "T-2", "--add-needs", "T-1"]);
    world.ok(&["claim", "T-3", "--owner", "ann"]);
    world.ok(&["checkpoint", "save"]);
    world.ok(&["token", "new", "phone"]);
    let is_relative = |text: &str| text.contains("from now") || text.contains("a moment ago");
    for verb in [
        &["list"][..],
        &["show", "T-1"],
        &["why", "T-2"],
        &["checkpoint", "list"],
        &["checkpoint", "show"],
        &["token", "list"],
        &["start", "T-3", "--owner", "bob"],
        &["start", "T-2"],
    ] {
        let set = [("NO_COLOR", "1"), ("COLUMNS", "160"), ("PUNCH_PAGER", "")];
        let screen = raw(&world, verb, &set);
        assert!(is_relative(&screen) && !screen.contains('Z'), "{verb:?}: {screen}");
        let pipe = world.punch(verb).render();
        assert!(!is_relative(&pipe.replace("added a moment ago", "")), "{verb:?}: {pipe}");
    }
}
