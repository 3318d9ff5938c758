//! Checklists as plan files: any Markdown with boxes, edited in place, its todos recognized without ids.

use proptest::prelude::*;
use punch_core::Status;
use punch_core::plan_file::{AgreedTodo, FileForm, PlanFile, PlanFileEdit, PlanFileTodo, merge, settled};

const LIST: &str = "# Release 2\n\nWhat is left before *Friday*.\n\n## Build\n\n- [x] Pick a compiler\n- [ ] Build it for all systems\n  \
                    with `--release`\n  - [ ] Linux\n  - [>] macOS\n\n```sh\n- [ ] not a todo\n```\n\n## Ship\n\n* [ ]\n1) [-] Print \
                    it\n2) [ ] Ship it   \n\nThe end.\n";

fn read(text: &str) -> PlanFile<'_> {
    PlanFile::read(text, &[]).unwrap()
}

fn shown(file: &PlanFile<'_>) -> Vec<String> {
    let line = |(at, item): (usize, &PlanFileTodo)| {
        let needs = item.dependencies.join(",");
        format!("{}|{}|{}|{needs}|{}", item.id, item.content, item.status.name(), file.phase(at).unwrap_or("-"))
    };
    file.items().iter().enumerate().map(line).collect()
}

/// Both sides agree on what the file says; its todos are called a, b, c and so on.
fn agreed(text: &str) -> Vec<AgreedTodo> {
    let file = read(text);
    let ids = (0..file.items().len()).map(|at| PlanFileEdit::Id(at, char::from(b'a' + at as u8).to_string()));
    let named = file.write(&ids.collect::<Vec<_>>()).unwrap();
    assert_eq!((named.text.as_str(), named.edits), (text, 0));
    let both = |item: PlanFileTodo| AgreedTodo { file: item.clone(), plan: item };
    // Nesting needs the names.
    let base: Vec<AgreedTodo> = named.items.into_iter().map(both).collect();
    PlanFile::read(text, &base).unwrap().items().iter().cloned().map(both).collect()
}

#[test]
fn every_box_is_a_todo_and_nesting_is_a_dependency() {
    let base = agreed(LIST);
    assert_eq!(
        shown(&PlanFile::read(LIST, &base).unwrap()),
        [
            "a|Pick a compiler|completed||Build",
            "b|Build it for all systems|pending|c,d|Build",
            "c|Linux|pending||Build",
            "d|macOS|in_progress||Build",
            "e|Print it|cancelled||Ship",
            "f|Ship it|pending||Ship",
        ]
    );
}

#[test]
fn edits_change_their_bytes_and_nothing_else() {
    let writes = [
        PlanFileEdit::Status(1, Status::Failed),
        PlanFileEdit::Status(2, Status::Completed),
        PlanFileEdit::Status(4, Status::Pending),
        PlanFileEdit::Content(5, "Ship it\non Friday".into()),
        PlanFileEdit::Dependencies(5, vec!["b".into()]),
    ];
    let after = read(LIST).write(&writes).unwrap();
    let expected = LIST
        .replace("- [ ] Build it", "- [!] Build it")
        .replace("- [ ] Linux", "- [x] Linux")
        .replace("[-] Print", "[ ] Print")
        .replace("Ship it   ", "Ship it on Friday   ");
    assert_eq!((after.text, after.edits), (expected, 4));
    let bom = format!("\u{feff}{}", LIST.replace('\n', "\r\n"));
    let after = read(&bom).write(&writes[..3]).unwrap().text;
    assert_eq!(after, format!("\u{feff}{}", read(LIST).write(&writes[..3]).unwrap().text.replace('\n', "\r\n")));
    let commented = read("- [ ] a <!-- mine -->\n")
        .write(&[PlanFileEdit::Content(0, "b".into()), PlanFileEdit::Status(0, Status::Completed)]);
    assert_eq!(commented.unwrap().text, "- [x] b <!-- mine -->\n");
    assert_eq!(read("- [] a\n").write(&[PlanFileEdit::Status(0, Status::Completed)]).unwrap().text, "- [x] a\n");
}

#[test]
fn new_todos_come_after_the_last_open_one_in_its_style() {
    let add = |text: &str, contents: &[&str]| {
        let item =
            |content: &&str| PlanFileTodo { id: "t".into(), content: (*content).into(), ..PlanFileTodo::default() };
        let adds: Vec<PlanFileEdit> = contents.iter().map(|content| PlanFileEdit::Add(item(content))).collect();
        let written = read(text).write(&adds).unwrap();
        assert_eq!(written.edits, contents.len());
        written.text
    };
    assert_eq!(add(LIST, &["New", "Newer"]), LIST.replace("Ship it   \n", "Ship it   \n3) [ ] New\n4) [ ] Newer\n"));
    assert_eq!(
        add("* [ ] a\n  more\n\n  - [x] b\n\n## Done\n- [x] c", &["d"]),
        "* [ ] a\n  more\n\n  - [x] b\n* [ ] d\n\n## Done\n- [x] c"
    );
    assert_eq!(add("- [x] a", &["d"]), "- [x] a\n- [ ] d");
    assert_eq!(add("- [ ] a\r\nb\r\n", &["d"]), "- [ ] a\r\n- [ ] d\r\nb\r\n");
}

#[test]
fn todos_are_recognized_when_they_move_or_are_reworded() {
    let base = agreed("- [ ] Write the parser\n- [ ] Write the docs\n- [x] Old\n");
    let ids = |text: &str| -> Vec<String> {
        PlanFile::read(text, &base).unwrap().items().iter().map(|item| item.id.clone()).collect()
    };
    assert_eq!(ids("- [x] Write the docs\n# More\n- [ ] Write the parser\n"), ["b", "a"]);
    assert_eq!(ids("- [ ] Write the fast parser\n- [ ] New\n- [ ] Write the docs\n- [x] Old\n"), ["a", "", "b", "c"]);
    assert_eq!(ids("- [ ] Write the docs\n- [ ] Deploy\n"), ["b", ""]);
}

#[test]
fn errors_name_line_and_column() {
    for (text, message) in [
        ("", "no checklist found; write at least one line such as `- [ ] Write the docs`"),
        ("# Plan\n- one\n", "no checklist found; write at least one line such as `- [ ] Write the docs`"),
        ("---\ntodos: []\n", "line 1, column 1: the front matter is never closed; end it with a line `---`"),
        ("a\n\n  - [?] b\n- [ ] c\n", "line 3, column 6: unknown marker `[?]`; use [ ], [>], [x], [-]"),
        ("---\ntodos:\n\t- id: a\n---\n", "line 3, column 2: not YAML: tabs"),
        ("---\ntodos:\n  - {id: a, content: A, status: perhaps}\n---\n", "line 3, column 33: unknown status `perhaps`"),
        ("---\nphases:\n  - name: One\n  - todos: []\n---\n", "line 4, column 5: `name` is missing"),
        (
            "---\ntodos:\n  - id: a\n    content: [x]\n---\n",
            "line 4, column 14: `content` must be a string, not a list",
        ),
        ("---\ntodos:\n  - x\n---\n", "line 3, column 5: this entry must be an object, not a string"),
        (
            "---\ntodos:\n  - {id: a, content: A}\n  - {id: a, content: B}\n---\n",
            "line 4, column 5: the id `a` is taken by line 3, column 5",
        ),
    ] {
        let refused = PlanFile::read(text, &[]).unwrap_err().message();
        assert!(refused.starts_with(message), "{text:?}: {refused}");
    }
}

#[test]
fn dependencies_that_are_not_nesting_stay_in_the_plan() {
    let base = agreed("- [ ] a\n- [ ] b\n  - [ ] c\n");
    // The plan has one more that the file cannot carry.
    let mut plan: Vec<PlanFileTodo> = base.iter().map(|known| known.plan.clone()).collect();
    plan[1].dependencies.insert(0, "a".into());
    let merged = |text: &str| {
        let file = PlanFile::read(text, &base).unwrap();
        merge(FileForm::Checklist, &base, file.items(), &plan)
    };
    let same = merged("- [ ] a\n- [ ] b\n  - [ ] c\n");
    assert!(!same.asks() && same.writes.is_empty() && same.conflicts.is_empty());
    let moved = merged("- [ ] a\n  - [ ] c\n- [ ] b\n");
    assert_eq!(moved.after[0].dependencies, ["c"]);
    assert_eq!(moved.after.iter().find(|item| item.id == "b").unwrap().dependencies, ["a"]);
    assert!(moved.conflicts.is_empty() && moved.writes.is_empty());
}

fn status() -> impl Strategy<Value = Status> {
    prop::sample::select(vec![
        Status::Pending,
        Status::InProgress,
        Status::Completed,
        Status::Cancelled,
        Status::Failed,
    ])
}

fn marker(status: Status) -> char {
    match status {
        Status::Pending => ' ',
        Status::InProgress => '>',
        Status::Completed => 'x',
        Status::Cancelled => '-',
        Status::Failed => '!',
    }
}

/// Lines around boxes as people write them.
fn document(items: &[(Status, u8, String)], crlf: bool, bom: bool) -> String {
    let mut text = String::from("# Plan [x]\n\nSome text.\n");
    for (at, (status, look, content)) in items.iter().enumerate() {
        let indent = if look & 1 == 1 && at > 0 { "  " } else { "" };
        let bullet = ["-", "*", "+", "7."][usize::from(look >> 1 & 3)];
        text.push_str(&format!("{indent}{bullet} [{}] {content}\n", marker(*status)));
        text.push_str(["", "\n", "      under it: [ ] nothing\n", "## Heading\n"][usize::from(look >> 3 & 3)]);
    }
    text.push_str("\nText - [ ] below\n");
    let text = if crlf { text.replace('\n', "\r\n") } else { text };
    if bom { format!("\u{feff}{text}") } else { text }
}

proptest! {
    #[test]
    fn statuses_change_and_every_other_byte_stays(
        items in prop::collection::vec((status(), status(), any::<u8>(), "[a-z\u{e9}]{1,6}( [a-z\\[\\]*]{1,4})?"), 1..8), crlf: bool, bom: bool,
    ) {
        let with = |new: bool| {
            let items: Vec<_> = items.iter().map(|(a, b, look, text)| (if new { *b } else { *a }, *look, text.clone())).collect();
            document(&items, crlf, bom)
        };
        let before = with(false);
        let writes: Vec<PlanFileEdit> = items.iter().enumerate().map(|(at, item)| PlanFileEdit::Status(at, item.1)).collect();
        prop_assert_eq!(read(&before).write(&writes).unwrap().text, with(true));
    }

    #[test]
    fn any_text_is_read_back_as_one_line(
        contents in prop::collection::vec("\\PC{1,20}|[ -~]{1,20}|[\u{1}-\u{1f}a-z'\"]{1,8}", 1..5),
    ) {
        let text: String = contents.iter().map(|_| "- [ ] x\n").collect();
        let writes: Vec<PlanFileEdit> = contents.iter().enumerate().map(|(at, text)| PlanFileEdit::Content(at, text.clone())).collect();
        let written = read(&text).write(&writes).unwrap();
        for (item, content) in read(&written.text).items().iter().zip(&contents) {
            prop_assert_eq!(&item.content, &FileForm::Checklist.content(content));
        }
    }

    #[test]
    fn a_damaged_file_is_refused_or_edited_as_a_whole(
        items in prop::collection::vec((status(), any::<u8>(), "[a-z]{1,4}"), 1..5), cut in any::<prop::sample::Index>(),
        put in "[-*#\\[\\]x!`<>\n\t ~a]{0,5}", take in 0..9_usize,
    ) {
        let mut text = document(&items, false, false);
        let at = cut.index(text.len());
        let end = (at + take).min(text.len());
        text.replace_range(at..end, &put);
        if let Ok(file) = PlanFile::read(&text, &[]) {
            let writes: Vec<PlanFileEdit> = (0..file.items().len()).map(|at| PlanFileEdit::Status(at, Status::Completed)).collect();
            if let Ok(written) = file.write(&writes) {
                let after = PlanFile::read(&written.text, &[]).unwrap();
                prop_assert!(after.items().iter().all(|item| item.status == Status::Completed));
                prop_assert_eq!(after.items().len(), file.items().len());
            }
        }
    }

    #[test]
    fn what_was_merged_is_merged(
        lines in prop::collection::vec(("[a-d]{1,3} [a-d]{1,3}", status(), 0..2_usize), 1..7),
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[a-d]{1,3} [a-d]{1,3}", status()), 0..4),
        plan_changes in prop::collection::vec((any::<prop::sample::Index>(), status()), 0..4),
    ) {
        let text = |lines: &[(String, Status, usize)]| -> String {
            lines.iter().map(|(content, status, depth)| format!("{}- [{}] {content}\n", "  ".repeat(*depth), marker(*status))).collect()
        };
        let base = agreed(&text(&lines));
        let mut lines = lines;
        for (at, content, status) in changes {
            let at = at.index(lines.len());
            lines[at] = (content, status, lines[at].2);
        }
        let mut plan: Vec<PlanFileTodo> = base.iter().map(|known| known.plan.clone()).collect();
        for (at, status) in plan_changes {
            let at = at.index(plan.len());
            plan[at].status = status;
        }
        let after = text(&lines);
        let file = PlanFile::read(&after, &base).unwrap();
        let merged = merge(FileForm::Checklist, &base, file.items(), &plan);
        // The plan takes everything; what is new gets a name.
        let mut taken = merged.after.clone();
        for (at, item) in taken.iter_mut().enumerate().filter(|(_, item)| item.id.is_empty()) {
            item.id = format!("n{at}");
        }
        let deleted = |item: &PlanFileTodo| merged.before.iter().any(|known| known.id == item.id);
        taken.extend(plan.iter().filter(|item| !deleted(item)).cloned());
        let rest = merge(FileForm::Checklist, &base, file.items(), &taken);
        let written = file.write(&rest.writes).unwrap();
        let base = settled(&base, &written.items, &taken, &[]);
        let again = PlanFile::read(&written.text, &base).unwrap();
        prop_assert!(again.items().iter().all(|item| !item.id.is_empty()), "{:?}", shown(&again));
        let quiet = merge(FileForm::Checklist, &base, again.items(), &taken);
        prop_assert!(quiet.writes.is_empty() && quiet.conflicts.is_empty(), "{quiet:?}");
        let statuses = |items: &[PlanFileTodo]| items.iter().map(|item| (item.id.clone(), item.content.clone(), item.status)).collect::<Vec<_>>();
        prop_assert_eq!(statuses(&quiet.before), statuses(&quiet.after));
    }
}
