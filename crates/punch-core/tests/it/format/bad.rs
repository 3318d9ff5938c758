//! What is wrong is named with its place, all of it, and nothing is read by halves.

use punch_core::format::Format;

fn refusal(format: Format, text: &str) -> String {
    match format.read(text) {
        Ok(parsed) => panic!("read as {:?}", parsed.document),
        Err(refusal) => refusal.message(),
    }
}

#[test]
fn every_bad_part_is_named_with_its_place() {
    let cases: &[(Format, &str, &str)] = &[
        (Format::CursorPlan, "# no front matter\n", "line 1: no front matter"),
        (Format::CursorPlan, "---\ntodos:\n", "line 1: no front matter"),
        (Format::CursorPlan, "---\nname: x\ntodos: [}\n---\n", "line 3, column 8: not YAML"),
        (
            Format::CursorPlan,
            "---\na: &a [x, x]\ntodos: [*a, *a]\n---\n",
            "line 3, column 9: YAML aliases are not supported",
        ),
        (Format::CursorPlan, "---\ntodos: x\n---\n", "line 2, column 8: `todos` must be a list, not a string"),
        (Format::CursorPlan, "---\ntodos:\n  - id: a\n---\n", "line 3, column 5: `content` is missing"),
        (
            Format::CursorPlan,
            "---\ntodos:\n  - {id: a, content: x, status: maybe}\n---\n",
            "line 3, column 33: unknown status `maybe`",
        ),
        (
            Format::CursorPlan,
            "---\ntodos:\n  - {id: a, content: x}\n  - {id: a, content: y}\n---\n",
            "line 4, column 5: the id `a` is taken by line 3, column 5",
        ),
        (Format::CursorPlan, "---\ntodos: []\ntodos: []\n---\n", ": the key `todos` is used twice"),
        (Format::Checklist, "- [ ] a\n- [?] b\n- [ ]\n", "line 2: unknown marker `[?]`"),
        (Format::Checklist, "- [ ] a\n- [?] b\n- [ ]\n", "line 3: the todo has no text"),
        (Format::TodoWrite, "{\"todos\": [1]}", "todos[0]: must be an object, not a number"),
        (
            Format::TodoWrite,
            "{\"todos\": [{\"content\": 1, \"status\": \"pending\", \"activeForm\": \"x\"}]}",
            "todos[0].content: must be a string, not a number",
        ),
        (Format::OpenCode, "[{\"content\": true}]", "todos[0].content: must be a string, not a boolean"),
        (Format::TodoWrite, "{\"todos\": 1}", "todos: must be a list"),
        (Format::TodoWrite, "{", "not JSON"),
        (Format::ClaudeTasks, "{\"1.json\": {\"id\": \"1\", \"status\": \"pending\"}}", "1.json.subject: is missing"),
        (Format::Codex, "{\"plan\": [{\"status\": \"pending\"}]}", "plan[0].step: is missing"),
        (Format::Codex, "{}\n{}\n", "not a Codex plan"),
        (Format::TaskMaster, "{\"tasks\": [{\"title\": \"x\"}]}", "tasks[0].id: is missing"),
        (Format::TaskMaster, "{\"master\": {}}", "tasks: must be a list"),
        (
            Format::TaskMaster,
            "{\"tasks\": [{\"id\": 1, \"title\": \"x\", \"dependencies\": [null]}]}",
            "tasks[0].dependencies[0]: must be an id, not null",
        ),
        (Format::Beads, "{\"id\": \"a\", \"title\": \"x\"}\n{\"id\": \"b\"\n", "line 2: not JSON"),
        (
            Format::Beads,
            "{\"id\": \"a\", \"title\": \"x\", \"priority\": 9}\n{\"id\": \"b\", \"title\": \"x\", \"created_at\": \"noon\"}\n",
            "line 2.created_at: invalid time `noon`",
        ),
        (
            Format::Taskwarrior,
            "[{\"uuid\": \"a\", \"description\": \"x\", \"status\": \"gone\"}]",
            "[0].status: must be pending",
        ),
        (
            Format::CursorAgent,
            "[{\"id\": \"a\", \"content\": \"x\", \"status\": 9}]",
            "todos[0].status: unknown status `9`",
        ),
        (Format::Phases, "- [?] x\nwords\n", "Line 2: unrecognized syntax"),
        (Format::PhasesSession, "{}\n", "no todo list in this session"),
        (Format::Spec, "- [ ] T001 a\n- [ ] T001 b\n", "line 2: the id `T001` is taken by line 1"),
    ];
    for (format, text, part) in cases {
        let said = refusal(*format, text);
        assert!(said.contains(part), "{}: {text:?}\n{said}\nlacks {part}", format.name());
    }
}

#[test]
fn a_yaml_bomb_and_deep_nesting_are_refused() {
    let bomb: String = (1..30).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1)).collect();
    assert!(refusal(Format::CursorPlan, &format!("---\na0: &a0 x\n{bomb}---\n")).contains("aliases"));
    let deep = format!("---\ntodos: {}{}\n---\n", "[".repeat(100_000), "]".repeat(100_000));
    assert!(refusal(Format::CursorPlan, &deep).starts_with("line 2"));
    let deep: String = (0..10_000).map(|n| format!("{}a:\n", " ".repeat(n))).take(200).collect();
    assert!(refusal(Format::CursorPlan, &format!("---\n{deep}---\n")).contains("line"));
    let json = format!("{{\"todos\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(refusal(Format::TodoWrite, &json).contains("not JSON"));
}

#[test]
fn a_thousand_errors_are_counted_not_told() {
    let text: String = (0..1000).map(|_| "- [?] x\n").collect();
    let said = refusal(Format::Checklist, &text);
    assert!(said.ends_with("980 more errors"), "{said}");
    assert!(said.lines().count() == 21);
}

#[test]
fn code_that_nothing_closes_is_told() {
    for text in ["- [ ] a\n```sh\nx\n- [ ] b\n", "- [ ] a\n<!-- x\n- [ ] b\n"] {
        let parsed = Format::Checklist.read(text).unwrap();
        assert_eq!(parsed.document.records.len(), 1);
        assert!(
            parsed.ignored.iter().any(|told| told.starts_with("line 2 and everything below it")),
            "{:?}",
            parsed.ignored
        );
    }
    let parsed = Format::Checklist.read("```\nx\n```\n- [ ] a <!-- b -->\n").unwrap();
    assert_eq!(parsed.ignored.into_iter().collect::<Vec<_>>(), ["line 1"]);
}

#[test]
fn fields_that_are_too_large_are_left_out_and_told() {
    let text = format!("{{\"id\": \"a\", \"title\": \"x\", \"blob\": \"{}\"}}", "z".repeat(40_000));
    let parsed = Format::Beads.read(&text).unwrap();
    assert_eq!(parsed.document.records[0].extra, None);
    assert_eq!(parsed.ignored.into_iter().collect::<Vec<_>>(), ["[0]: blob (more than 32 KiB)"]);
}

#[test]
fn deep_and_long_lists_are_read() {
    let text: String = (0..1_000).map(|n| format!("{}- [ ] x{n}\n", " ".repeat(n))).collect();
    let parsed = Format::Checklist.read(&text).unwrap();
    assert_eq!(parsed.document.edges.len(), 999);
    let flat: String = (0..100_000).map(|n| format!("  - [ ] x{n}\n")).collect();
    let parsed = Format::Checklist.read(&format!("- [ ] all\n{flat}")).unwrap();
    assert_eq!(parsed.document.edges.len(), 100_000);
    assert_eq!(Format::Checklist.write(&parsed.document).unwrap().text.lines().count(), 100_001);
}
