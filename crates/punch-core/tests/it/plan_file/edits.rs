//! Single edits, each with the whole text before and after.

use punch_core::Status;
use punch_core::plan_file::{PlanFile, PlanFileEdit, PlanFileTodo};

fn edited(text: &str, writes: &[PlanFileEdit]) -> String {
    PlanFile::read(text, &[]).unwrap().write(writes).unwrap().text
}

fn item(id: &str, content: &str) -> PlanFileTodo {
    PlanFileTodo { id: id.into(), content: content.into(), ..PlanFileTodo::default() }
}

const PLAN: &str = "---\nname: A plan # of mine\nversion: 1.10\ntodos:\n  - id: a   # first\n    content: 'It''s one'\n    \
                    status: pending # soon\n    priority: high\n  # the second\n  - id: b\n    content: Two\n    \
                    dependencies: [a]\n---\n\n# Text\n\n- [ ] not a todo\n";

#[test]
fn a_status_is_replaced_and_nothing_else() {
    let after = edited(PLAN, &[PlanFileEdit::Status(0, Status::InProgress)]);
    assert_eq!(after, PLAN.replace("pending", "in_progress"));
    assert_eq!(edited(PLAN, &[PlanFileEdit::Status(0, Status::Pending)]), PLAN);
    assert_eq!(edited(PLAN, &[]), PLAN);
}

#[test]
fn a_missing_status_comes_in_behind_the_content() {
    let after = edited(PLAN, &[PlanFileEdit::Status(1, Status::Completed)]);
    assert_eq!(after, PLAN.replace("content: Two\n", "content: Two\n    status: completed\n"));
}

#[test]
fn a_failed_todo_is_written_as_cancelled() {
    let after = edited(PLAN, &[PlanFileEdit::Status(0, Status::Failed)]);
    assert_eq!(after, PLAN.replace("pending", "cancelled"));
}

#[test]
fn words_keep_their_quotes() {
    let after =
        edited(PLAN, &[PlanFileEdit::Content(0, "Isn't two".into()), PlanFileEdit::Content(1, "Three: # four".into())]);
    let expected = PLAN.replace("'It''s one'", "'Isn''t two'").replace("content: Two", "content: \"Three: # four\"");
    assert_eq!(after, expected);
}

#[test]
fn dependencies_are_replaced_in_any_form() {
    let ids = |ids: &[&str]| PlanFileEdit::Dependencies(1, ids.iter().map(|id| (*id).to_owned()).collect());
    assert_eq!(edited(PLAN, &[ids(&["a", "1.10"])]), PLAN.replace("[a]", "[a, \"1.10\"]"));
    assert_eq!(edited(PLAN, &[ids(&[])]), PLAN.replace("[a]", "[]"));
    for block in ["\n    - a", "\n      - a\n      - x", " a, x"] {
        let text = PLAN.replace(" [a]", block);
        assert_eq!(edited(&text, &[ids(&["z"])]), PLAN.replace("[a]", "[z]"), "{block}");
    }
    let none = edited(PLAN, &[PlanFileEdit::Dependencies(0, vec!["z".into()])]);
    assert_eq!(none, PLAN.replace("pending # soon\n", "pending # soon\n    dependencies: [z]\n"));
}

#[test]
fn a_todo_without_an_id_gets_one() {
    let text = "---\ntodos:\n  - content: New\n    status: pending\n  - {content: Other}\n---\n";
    let after = edited(text, &[PlanFileEdit::Id(0, "T-1".into()), PlanFileEdit::Id(1, "T-2".into())]);
    assert_eq!(
        after,
        "---\ntodos:\n  - id: T-1\n    content: New\n    status: pending\n  - {id: \"T-2\", content: Other}\n---\n"
    );
}

#[test]
fn block_scalars_are_replaced_as_a_whole() {
    let text = "---\ntodos:\n  - id: a\n    content: |\n      One\n      and more\n    status: >-\n      done\n---\n";
    let after = edited(text, &[PlanFileEdit::Content(0, "Short".into()), PlanFileEdit::Status(0, Status::Pending)]);
    assert_eq!(after, "---\ntodos:\n  - id: a\n    content: Short\n    status: pending\n---\n");
}

#[test]
fn todos_are_added_at_the_end_of_the_list_however_it_is_written() {
    let new = PlanFileTodo { dependencies: vec!["a".into()], ..item("t9", "New, one") };
    let add = |text: &str| edited(text, &[PlanFileEdit::Add(new.clone())]);
    assert_eq!(
        add(PLAN),
        PLAN.replace(
            "dependencies: [a]\n",
            "dependencies: [a]\n  - id: t9\n    content: New, one\n    status: pending\n    dependencies: [a]\n"
        )
    );
    let lines = "\n  - id: t9\n    content: New, one\n    status: pending\n    dependencies: [a]\n";
    for list in ["todos: []\n", "todos:\n", "todos: null\n"] {
        let after = add(&format!("---\n{list}name: x\n---\nbelow\n"));
        let spaced = after.replace("todos: \n", "todos:\n");
        assert_eq!(spaced, format!("---\ntodos:{lines}name: x\n---\nbelow\n"), "{list}");
    }
    assert_eq!(add("---\nname: x\n---\n"), format!("---\nname: x\ntodos:{lines}---\n"));
    assert_eq!(
        add("---\ntodos: [{id: a, content: A}]\n---\n"),
        "---\ntodos: [{id: a, content: A}, {id: t9, content: \"New, one\", status: pending, dependencies: [a]}]\n---\n"
    );
    let two = edited(
        "---\ntodos:\n- id: a\n  content: A\n---\n",
        &[PlanFileEdit::Add(item("x", "X")), PlanFileEdit::Add(item("y", "Y"))],
    );
    assert_eq!(
        two,
        "---\ntodos:\n- id: a\n  content: A\n- id: x\n  content: X\n  status: pending\n- id: \"y\"\n  content: \"Y\"\n  \
         status: pending\n---\n"
    );
}

#[test]
fn line_ends_and_a_byte_order_mark_stay() {
    let text = format!("\u{feff}{}", PLAN.replace('\n', "\r\n"));
    let writes = [
        PlanFileEdit::Status(0, Status::Completed),
        PlanFileEdit::Status(1, Status::Cancelled),
        PlanFileEdit::Add(item("c", "C")),
    ];
    let after = edited(&text, &writes);
    assert_eq!(after, format!("\u{feff}{}", edited(PLAN, &writes).replace('\n', "\r\n")));
}

#[test]
fn todos_of_phases_are_edited_too() {
    let text = "---\ntodos: []\nphases:\n  - name: One\n    todos:\n      - id: a\n        content: A\n        status: \
                pending\n  - name: Two\n    todos:\n      - {id: b, content: B, status: pending}\n---\n";
    let file = PlanFile::read(text, &[]).unwrap();
    assert_eq!((file.phase(0), file.phase(1)), (Some("One"), Some("Two")));
    let after = file
        .write(&[PlanFileEdit::Status(0, Status::Completed), PlanFileEdit::Status(1, Status::InProgress)])
        .unwrap()
        .text;
    let expected = text.replacen("pending", "completed", 1).replace("B, status: pending", "B, status: in_progress");
    assert_eq!(after, expected);
}

#[test]
fn forms_that_would_lose_something_are_refused() {
    for text in [
        "---\ntodos:\n  - id: a\n    content: A\n    dependencies:\n      - x # why\n      - y\n---\n",
        "---\ntodos:\n  - id: a\n    content: A\n    dependencies: # why\n      - x\n---\n",
    ] {
        let file = PlanFile::read(text, &[]).unwrap();
        let refused = file.write(&[PlanFileEdit::Dependencies(0, vec!["z".into()])]).unwrap_err();
        assert!(refused.message().contains("unusual form"), "{}", refused.message());
    }
    for text in ["", "---\n", "---\ntodos:\n  - a\n---\n", "---\ntodos: {a: b}\n---\n", "no front matter\n"] {
        assert!(PlanFile::read(text, &[]).is_err(), "{text:?}");
    }
}
