//! Bytes from outside: terminal escapes, arguments that are not text, readers that leave.

use std::{ffi::OsStr, process::Stdio};

use crate::world::{World, answer, finished};

/// Colors, a window title, a carriage return that hides, a right-to-left override, a C1 control, characters without width,
/// tags in which a text can hide, a line break.
const EVIL: &str =
    "\u{1b}[31mred\u{1b}]0;title\u{7} back\rover \u{202e}right \u{9b}2J \u{200b}\u{feff}\u{e0041}\u{e007f}\u{ad} a\nb";

/// Most of [`EVIL`], but on one line.
const LINE: &str = "\u{1b}[31mred\u{1b}]0;title\u{7} \u{202e}right \u{9b}2J \u{200b}\u{feff}\u{e0041}\u{e007f}";

/// Nothing that a terminal would obey, and nothing that a reader does not see.
fn assert_harmless(what: &str, text: &str) {
    let hidden = |c: char| matches!(c, '\u{ad}' | '\u{200b}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}');
    let turned = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let bad = |c: char| (c.is_control() && c != '\n') || turned(c) || hidden(c);
    assert!(!text.chars().any(bad), "{what}: {text:?}");
}

#[test]
fn terminal_escapes_are_neutralised_in_every_human_output() {
    let world = World::new();
    let all_fields = |content: &str, id: &str| {
        let add = ["add", content, "--id", id, "--phase", "P\u{1b}[1m", "--description", EVIL, "--criteria", EVIL];
        world.punch(&[&add[..], &["--verify", EVIL, "--files", "a\u{1b}b", "--active-form", LINE]].concat())
    };
    let added = all_fields(LINE, "x");
    assert_eq!(added.exit, Some(0), "{}", added.render());
    assert_harmless("add", &added.stdout);
    all_fields("second", "y");
    world.punch(&["add", "third", "--needs", "x"]);
    world.punch(&["note", "x", EVIL]);
    world.punch(&["note", "y", EVIL]);
    let owner = "o\u{1b}[5m";
    let runs: &[&[&str]] = &[
        &["list"],
        &["list", "--all"],
        &["ready"],
        &["next"],
        &["tree", "--expand", "--all"],
        &["show", "x"],
        &["status"],
        &["hold", "y", EVIL],
        &["list"],
        &["show", "y"],
        &["release", "y"],
        &["claim", "x", "--owner", owner],
        &["list"],
        &["status"],
        &["done", "x", "--evidence", EVIL],
        &["reopen", "x"],
        &["fail", "x", "--error", EVIL],
        &["show", "x"],
        &["move", "x", "--first"],
        &["drop", "x"],
        &["tree", "--all"],
        &["rm", "x"],
        &["show", EVIL],
        &["done", EVIL],
        &["add", "a", "--needs", EVIL],
        &["list", "--phase", EVIL],
        &["list", "--plan", EVIL],
        &["config", "get", EVIL],
        &["config", "set", "owner", EVIL],
        &["claim", "--owner", "a", "--lease", EVIL],
        &["store", "backup", "\u{1b}[31m.db"],
        &["store", "info"],
        &["store", "restore", "none\u{1b}[31m.db"],
        &["doctor"],
        &["log"],
        &["why", "x"],
        &["graph"],
        &["undo"],
        &["plan", "list"],
        &["schedule"],
        &["report"],
        &["inbox"],
        &["assign", "y", "--to", "print"],
    ];
    for arguments in runs {
        let run = world.punch(arguments);
        assert!(matches!(run.exit, Some(0..=3)), "{}", run.render());
        assert_harmless(&format!("{arguments:?} stdout"), &run.stdout);
        assert_harmless(&format!("{arguments:?} stderr"), &run.stderr);
        let json = world.punch(&[arguments, &["--json"][..]].concat());
        // For programs: JSON's own escapes are enough.
        assert!(!json.stdout.trim_end().bytes().any(|byte| byte < b' '), "{arguments:?} --json: {:?}", json.stdout);
    }
    let formats = answer(&world.punch(&["--json", "export", "--formats"]))["formats"].as_array().unwrap().clone();
    let written =
        formats.iter().filter(|format| format["writes"] == true).map(|format| format["name"].as_str().unwrap());
    let written: Vec<&str> = written.collect();
    assert!(written.len() > 12, "{written:?}");
    for format in written {
        let run = world.punch(&["export", "--format", format]);
        assert!(run.exit == Some(0) && run.stdout.contains("second"), "{format}: {}", run.render());
        assert_harmless(&format!("export --format {format}"), &run.stdout);
    }
}

#[cfg(unix)]
#[test]
fn arguments_that_are_no_text_are_a_usage_error_and_paths_may_be_any_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let strange = OsStr::from_bytes(b"a\xff\x1bb");
    let run = finished(world.command(&["add"]).arg(strange).output().unwrap());
    assert_eq!((run.exit, run.stdout.as_str()), (Some(2), ""), "{}", run.stderr);
    assert_harmless("usage", &run.stderr);
    let in_strange = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.arg("--store").arg(strange);
        finished(command.output().unwrap())
    };
    std::fs::create_dir(world.project.join(strange)).unwrap();
    let added = in_strange(&["add", "first"]);
    assert_eq!((added.exit, added.stderr.as_str()), (Some(0), ""), "{}", added.render());
    assert_eq!(in_strange(&["list"]).stdout, "[ ] T-1  first\n");
    let doctor = in_strange(&["doctor"]);
    assert_eq!(doctor.exit, Some(0));
    assert_harmless("doctor", &doctor.stdout);
    let mut command = world.command(&["list"]);
    let run = finished(command.env("PUNCH_OWNER", strange).output().unwrap());
    assert_eq!(run.exit, Some(1), "{}", run.render());
    assert!(run.stderr.contains("PUNCH_OWNER"), "{}", run.stderr);
}

/// Opening a pipe that has no other end would wait forever.
#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_file_is_refused() {
    let world = World::new();
    let made = std::process::Command::new("mkfifo").arg(world.project.join("pipe")).status().unwrap();
    assert!(made.success());
    for arguments in [&["import", "pipe"][..], &["stats", "cost", "--dialect", "native", "--replay", "pipe"]] {
        assert_eq!(world.refused(arguments).1, "not_a_file", "{arguments:?}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_error_for_any_verb() {
    let world = World::new();
    let lines: String = (0..3_000).map(|n| format!("todo number {n} which fills the pipe\n")).collect();
    assert_eq!(world.feed(&["add", "-"], &lines).exit, Some(0));
    for arguments in [&["list"][..], &["list", "--json"], &["tree", "--expand"], &["--help"], &["add", "last"]] {
        let mut child = world.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
    // The answer found no reader; the change was made all the same.
    assert_eq!(world.json(&["status"])["total"], 3_001);
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_says_that_the_change_is_stored() {
    let world = World::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let run = finished(world.command(&["add", "first"]).stdout(full).output().unwrap());
    assert_eq!(run.exit, Some(1), "3 would mean: try again");
    assert!(run.stderr.contains("the change is stored, but standard output cannot be written"), "{}", run.stderr);
    assert_eq!(world.ids(), ["T-1"]);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let run = finished(world.command(&["list"]).stdout(full).output().unwrap());
    assert_eq!(run.exit, Some(3), "{}", run.render());
    assert!(run.stderr.contains("cannot write standard output"), "{}", run.stderr);
}
