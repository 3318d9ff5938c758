//! The plan as text that a user edits.

use insta::assert_snapshot;
use proptest::prelude::*;
use punch_core::view::edit_sheet::{self, SheetTodos};
use punch_core::{Document, Label, Plan, Status};

use crate::sample::{Sample, plans, waits};

fn plan() -> Plan {
    Sample::new()
        .phase("Core")
        .phase("Docs")
        .with(0, Status::Pending, "Release", |t| {
            t.priority = 1;
            waits(t, &[2, 3]);
        })
        .with(1, Status::InProgress, "Write the parser", |t| {
            t.estimated_tokens = Some(20_000);
            t.labels = [Label::parse("core").unwrap(), Label::parse("area/io").unwrap()].into();
            t.description = Some("stays".into());
        })
        .with(1, Status::Pending, "Fix p1", |t| t.estimated_tokens = Some(1_500))
        .todo(1, Status::Completed, "Design it")
        .with(2, Status::Failed, "Says \"hello\" needs: T-9", |t| t.id = "a b".into())
        .plan
}

#[test]
fn a_todo_is_one_line_and_unclear_texts_stand_in_quotes() {
    let document = Document::of(&plan());
    assert_snapshot!(edit_sheet::write(&document, SheetTodos::Unfinished), @r#"
    - [ ] T-1  Release  p1 needs: T-2, T-3

    # Core

    - [>] T-2  Write the parser  ~20k #area/io #core
    - [ ] T-3  "Fix p1"  ~1500

    # Docs

    - [!] `a b`  "Says "hello" needs: T-9"
    "#);
    assert_snapshot!(edit_sheet::write(&document, SheetTodos::All), @r#"
    - [ ] T-1  Release  p1 needs: T-2, T-3

    # Core

    - [>] T-2  Write the parser  ~20k #area/io #core
    - [ ] T-3  "Fix p1"  ~1500
    - [x] T-4  Design it

    # Docs

    - [!] `a b`  "Says "hello" needs: T-9"
    "#);
}

#[test]
fn lines_that_users_change_change_only_that() {
    let before = Document::of(&plan());
    let text = "- [x] T-1 Release it p2\n# Core\n- [ ] New one ~3k #core needs: T-3, `a b`\n- [>] T-2 Write the parser ~20k #core #area/io\n\
                # Later\n- [ ] T-3  \"Fix p1\" ~1500\n* [!] `a b` \"Says \\\"hello\\\" needs: T-9\"\n";
    let after = edit_sheet::read(text, &before, SheetTodos::Unfinished);
    let edit_sheet::EditedSheet { document: after, lines: numbers } =
        after.unwrap_or_else(|error| panic!("{}", error.message()));
    assert_eq!(numbers, [Some(1), Some(3), Some(4), None, Some(6), Some(7)], "the line of each record");
    let lines: Vec<String> = after
        .records
        .iter()
        .map(|r| {
            let labels: Vec<&str> = r.labels.iter().map(Label::as_str).collect();
            let (id, phase) = (r.id.as_deref().unwrap_or("new"), r.phase.as_deref().unwrap_or("-"));
            let fields = (r.status.name(), r.priority, r.estimated_tokens, labels, &r.depends_on, &r.description);
            format!("{id} [{phase}] {} {fields:?}", r.content)
        })
        .collect();
    assert_snapshot!(lines.join("\n"), @r#"
    T-1 [-] Release it ("completed", Some(2), None, [], [], None)
    new [Core] New one ("pending", None, Some(3000), ["core"], ["T-3", "a b"], None)
    T-2 [Core] Write the parser ("in_progress", None, Some(20000), ["area/io", "core"], [], Some("stays"))
    T-4 [Core] Design it ("completed", None, None, [], [], None)
    T-3 [Later] Fix p1 ("pending", None, Some(1500), [], [], None)
    a b [Later] Says \"hello\" needs: T-9 ("failed", None, None, [], [], None)
    "#);
    assert_eq!(after.phases, ["Core", "Docs", "Later"]);
}

#[test]
fn every_line_that_is_not_understood_is_named() {
    let before = Document::of(&plan());
    let text =
        "hello\n- [?] T-1 Release\n- [ ] T-2\n- [ ] x needs: T-77\n- [ ] T-3 a\n- [ ] T-3 b\n- [ ] \"quoted\" more\n";
    assert_snapshot!(edit_sheet::read(text, &before, SheetTodos::All).unwrap_err().message(), @r#"
    line 1: not a todo: write `- [ ] text`, or `# name` for a phase
    line 2: unknown mark `[?]`: use `[ ]`, `[>]`, `[x]`, `[-]` or `[!]`
    line 3: the text is missing
    line 4: needs: no todo `T-77`
    line 6: `T-3` is already on line 5
    line 7: not understood after the text: `more`
    "#);
}

proptest! {
    /// A sheet that is saved as it is changes nothing, whatever the texts are.
    #[test]
    fn saving_without_a_change_changes_nothing(plan in plans(), all in any::<bool>()) {
        let before = Document::of(&plan);
        let shown = if all { SheetTodos::All } else { SheetTodos::Unfinished };
        let text = edit_sheet::write(&before, shown);
        let after = edit_sheet::read(&text, &before, shown);
        let after = after.map_err(|error| TestCaseError::fail(format!("{}\n{text}", error.message())))?;
        let strip = |document: &Document| document.records.iter().map(|r| (r.id.clone(), r.content.clone())).collect::<Vec<_>>();
        let (mut was, mut is) = (strip(&before), strip(&after.document));
        was.sort();
        is.sort();
        prop_assert_eq!(was, is);
    }
}

/// A line whose id was changed is an error, whatever it was changed to: as a new todo it would archive the one it was.
#[test]
fn a_line_with_a_wrong_id_is_refused_with_its_line_and_id() {
    let before = Document::of(&plan());
    let text = edit_sheet::write(&before, SheetTodos::Unfinished);
    let wrong = |old: &str, new: &str| {
        let edited = text.replacen(old, new, 1);
        assert_ne!(edited, text, "{old}");
        match edit_sheet::read(&edited, &before, SheetTodos::Unfinished) {
            Ok(_) => panic!("{new} was accepted"),
            Err(refusal) => refusal.message(),
        }
    };
    assert_snapshot!([
        wrong("T-2  Write", "T-4  Write"),
        wrong("T-2  Write", "T-9 Write"),
        wrong("T-2  Write", "t-2 Write"),
        wrong("T-2  Write", "X Write"),
        wrong("T-2  Write the parser", "parser  Write a parser"),
        wrong("[ ] T-1  Release", "[ ] T-2  Release"),
    ].join("\n"), @r#"
    line 5: `T-4` is completed and not in this text; `punch edit --all` shows it (a new todo that begins with this word needs quotes)
    line 5: no todo `T-9` (did you mean `T-2`?); a new todo has no id, and its text needs quotes if it begins like one
    line 5: no todo `t-2` (did you mean `T-2`?); a new todo has no id, and its text needs quotes if it begins like one
    line 5: no todo `X` (did you mean `T-2`?); a new todo has no id, and its text needs quotes if it begins like one
    line 5: no todo `parser`; a new todo has no id, and its text needs quotes if it begins like one
    line 5: `T-2` is already on line 1
    "#);
    let fine = [("T-2  Write the parser", "Write another parser"), ("- [ ] T-1", "- [ ] \"T-9 is a lie\"\n- [ ] T-1")];
    for (old, new) in fine {
        assert!(edit_sheet::read(&text.replacen(old, new, 1), &before, SheetTodos::Unfinished).is_ok(), "{new}");
    }
}
