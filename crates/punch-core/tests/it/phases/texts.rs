//! Rules of Markdown and of the commands that one short example shows best.

use punch_core::Status;
use punch_core::dialect::phases::{
    CommandReply, FileEffect, PhaseTask, TaskPhase, exported, finish_import, phases_to_json, read, run,
};
use serde_json::json;

use super::{list, pending, say};

#[test]
fn a_hostile_line_costs_no_more_than_its_length() {
    let blank = " ".repeat(1_000_000);
    let text = format!("- [ ] a{blank}b\n{blank}>{blank}\n#{blank}a\u{2028}{blank}x\n-{blank}[{blank}\n{blank}");
    let reading = read(&text);
    assert_eq!(reading.phases[0].tasks[0].notes.len(), 1);
    assert_eq!(reading.errors.len(), 2);
    assert_eq!(read(&"#".repeat(1_000_000)).errors.len(), 1);
    assert_eq!(read(&"\r".repeat(1_000_000)).errors.len(), 0);
    say(&reading.phases, &format!("append {}", "\\\" ".repeat(300_000)));
}

#[test]
fn markers_are_one_utf16_unit() {
    let error = |line: &str| read(line).errors.join("");
    assert_eq!(error("- [✓] x"), "Line 1: unknown status marker \"[✓]\" (use [ ], [x], [/], [-])");
    assert_eq!(error("- []] x"), "Line 1: unknown status marker \"[]]\" (use [ ], [x], [/], [-])");
    assert_eq!(error("- [🚀] x"), "Line 1: unrecognized syntax \"- [🚀] x\"");
    assert_eq!(error("- [\u{2028}] x"), "Line 1: unrecognized syntax \"- [\u{2028}] x\"");
    assert_eq!(error("- [] x"), "");
    assert_eq!(read("- [?] x").phases, [TaskPhase::new("Todos")]);
}

#[test]
fn lines_end_and_trim_as_in_javascript() {
    let reading = read("\u{feff}# A\u{a0}\n+\u{3000}[x]\u{2028}done\u{85}\r\n > n\n\n >\u{2029}\n>  m");
    assert_eq!(reading.errors, [""; 0]);
    assert_eq!(
        phases_to_json(&reading.phases),
        json!([{"name": "A", "tasks": [{"content": "done\u{85}", "status": "completed", "notes": ["n", " m"]}]}])
    );
    // A carriage return is part of the line unless a line feed follows it.
    assert_eq!(read("- [ ] a\n> n\r").errors, ["Line 2: unrecognized syntax \"> n\""]);
    assert_eq!(read("- [ ] a\n> n\r\n").errors, [""; 0]);
    assert_eq!(read("- [ ] a\n>  ").phases[0].tasks[0].notes, [" "]);
}

#[test]
fn a_heading_or_an_error_ends_the_task_but_a_blank_line_does_not_end_its_note() {
    assert_eq!(read("- [ ] a\n> n\n\n> m").phases[0].tasks[0].notes, ["n\nm"]);
    for line in ["# B", "prose", "- [?] b"] {
        let reading = read(&format!("- [ ] a\n{line}\n> n"));
        assert_eq!(reading.errors.last().unwrap(), "Line 3: unrecognized syntax \"> n\"");
    }
}

#[test]
fn words_keep_quoted_and_escaped_text_together() {
    let phases = pending(&[]);
    for (line, output) in [
        (r#"append "two words" "a  b" c"#, "Appended to Two Words: A  b c"),
        (r"append two\ words x", "Appended to Two Words: X"),
        (r#"append pre"fix y" z"#, "Appended to Prefix Y: Z"),
        (r#"append "open end"#, "Appended to A: Open end"),
        ("append \t x\\", "Appended to A: X\\"),
        ("append \u{10428}x", "Appended to A: \u{10428}x"),
        ("append ßx", "Appended to A: SSx"),
        (r#"APPEND """#, "Usage: /todo append [<phase>] <task...>"),
        ("start", "Usage: /todo start <task>"),
    ] {
        assert_eq!(say(&phases, line).output, output, "{line}");
    }
}

#[test]
fn a_fuzzy_name_must_be_clear() {
    let phases = list(json!([
        {"name": "Alpha", "tasks": [{"content": "Fix parser", "status": "completed"}]},
        {"name": "Alpine", "tasks": [{"content": "Fix PARSER bug", "status": "pending"}]},
        {"name": "Beta Alp", "tasks": [{"content": "Fix", "status": "pending"}]},
    ]));
    for (line, output) in [
        ("start fix", "Started: Fix"),
        ("start fix parser", "Started: Fix parser"),
        ("start parser", "Started: Fix PARSER bug"),
        ("start x p", "Started: Fix PARSER bug"),
        ("start i", "No task matched \"i\". Use /todo to list current tasks."),
        ("done alph", "Marked phase Alpha completed."),
        ("drop a alp", "Marked phase Beta Alp abandoned."),
        ("rm alp", "No task or phase matched \"alp\"."),
        ("rm ALPINE", "Removed phase: Alpine"),
    ] {
        assert_eq!(say(&phases, line).output, output, "{line}");
    }
    assert_eq!(say(&phases, "rm alpine").phases[1], TaskPhase::new("Alpine"));
    assert_eq!(say(&phases, "rm").phases, []);
}

#[test]
fn files_are_left_to_the_caller() {
    let phases = pending(&["a"]);
    let markdown = "# A\n- [ ] a\n".to_owned();
    assert_eq!(run(&phases, "export"), CommandReply::Effect(FileEffect::Export { path: "TODO.md".into(), markdown }));
    assert_eq!(
        run(&phases, " import  my file.md "),
        CommandReply::Effect(FileEffect::Import { path: "my file.md".into() })
    );
    assert_eq!(say(&[], "export x.md").output, "No todos to export.");
    assert_eq!(exported("x.md"), "Wrote todos to x.md");
    let said = finish_import(&phases, "x.md", "- [ ] b\n# B\n- [ ] c\n");
    assert_eq!(said.output, "Imported 2 phase(s), 2 task(s) from x.md.");
    assert_eq!(said.phases[0].tasks[0], PhaseTask::new("b", Status::InProgress));
    let said = finish_import(&phases, "x.md", "prose\n- [ ] b\n1. c");
    let output =
        "Could not parse x.md:\n  Line 1: unrecognized syntax \"prose\"\n  Line 3: unrecognized syntax \"1. c\"";
    assert_eq!((said.output.as_str(), said.phases), (output, phases));
}

#[test]
fn an_empty_list_says_how_to_begin() {
    assert_eq!(say(&[], " ").output, "No todos. Use /todo append <task> to start one.");
    assert_eq!(say(&[TaskPhase::new("A")], "").output, "# A");
}
