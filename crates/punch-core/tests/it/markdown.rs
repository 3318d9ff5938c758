//! Native Markdown: readable, editable, lossless.

use insta::assert_snapshot;
use proptest::prelude::*;
use punch_core::view::{markdown, markdown_read};
use punch_core::{Document, Label, ParsedDocument, Plan, Status};

use crate::sample::{Sample, note, plans, text};

fn plan() -> Plan {
    Sample::new()
        .phase("Build it")
        .phase("Empty")
        .phase(" Ship\n")
        .todo(0, Status::Pending, "Loose `end` with *stars*")
        .with(1, Status::Completed, "Schema", |t| t.finished_at = Some(7))
        .with(1, Status::InProgress, "Form", |t| {
            t.description = Some("A form for settings.\n\n  indented\nend".to_owned());
            t.depends_on = vec![punch_core::Dep::On(punch_core::Uid(2))];
            t.notes = vec![note("first line\nsecond line"), note("with\n\na gap"), note("<!-- x -->")];
        })
        .with(3, Status::Cancelled, "two\nlines --> end", |t| t.description = Some("- [ ] not a todo".to_owned()))
        .todo(3, Status::Failed, "")
        .plan
}

fn read(text: &str) -> ParsedDocument {
    markdown_read::read(text).unwrap()
}

/// What was read, in few words.
fn brief(text: &str) -> String {
    let ParsedDocument { document, ignored } = read(text);
    let mut out: Vec<String> = document
        .records
        .iter()
        .map(|r| {
            let notes: Vec<String> = r.notes.iter().map(|n| format!("{:?}@{:?}", n.text, n.at)).collect();
            format!(
                "{} {} {:?} phase={:?} description={:?} notes={}",
                r.id.as_deref().unwrap_or("-"),
                r.status.name(),
                r.content,
                r.phase.as_deref().unwrap_or("-"),
                r.description.as_deref().unwrap_or("-"),
                notes.join(",")
            )
        })
        .collect();
    out.push(format!("phases={:?} ignored={ignored:?}", document.phases));
    out.join("\n")
}

#[test]
fn a_plan_reads_well_and_comes_back() {
    let document = Document::of(&plan());
    let text = markdown::write(&document, Some("My plan"));
    assert_snapshot!(text, @r#"
    # My plan <!-- punch {"title":true} -->

    - [ ] Loose `end` with *stars* <!-- punch {"id":"T-1","createdAt":0} -->

    # Build it

    - [x] Schema <!-- punch {"id":"T-2","createdAt":0,"finishedAt":7} -->
    - [>] Form <!-- punch {"id":"T-3","dependsOn":["T-2"],"createdAt":0,"notes":[{"at":5,"by":"ann","shown":"b0e661c9"},{"text":"with\n\na gap","at":5,"by":"ann","shown":"3c677a84"},{"text":"\u003c!-- x --\u003e","at":5,"by":"ann","shown":"2cad12cc"}]} -->
      A form for settings.

        indented
      end
      > first line
      > second line
      >
      > with  a gap
      >
      > <! -- x -- >

    # Empty

    # Ship <!-- punch {"name":" Ship\n","shown":"2c833d9f"} -->

    - [-] two lines -- > end <!-- punch {"id":"T-4","description":"- [ ] not a todo","createdAt":0,"content":"two\nlines --\u003e end","shown":"de1606fb"} -->
    - [!] (empty) <!-- punch {"id":"T-5","createdAt":0,"content":"","shown":"c2b0def7"} -->
    "#);
    assert_eq!(read(&text), ParsedDocument { document: document.clone(), ..ParsedDocument::default() });
    assert_eq!(read(&text.replace('\n', "\r\n")).document, document);
    assert_eq!(markdown::write(&Document::default(), None), "");
}

#[test]
fn phases_gather_what_the_list_holds_mixed() {
    let plan = Sample::new()
        .phase("A")
        .phase("B")
        .todo(2, Status::Pending, "b1")
        .todo(1, Status::Pending, "a1")
        .todo(0, Status::Pending, "loose")
        .todo(2, Status::Pending, "b2")
        .plan;
    let document = Document::of(&plan);
    let text = markdown::write(&document, None);
    assert_snapshot!(text, @r#"
    - [ ] loose <!-- punch {"id":"T-3","createdAt":0,"place":3} -->

    # A

    - [ ] a1 <!-- punch {"id":"T-2","createdAt":0,"place":2} -->

    # B

    - [ ] b1 <!-- punch {"id":"T-1","createdAt":0,"place":1} -->
    - [ ] b2 <!-- punch {"id":"T-4","createdAt":0,"place":4} -->
    "#);
    assert_eq!(read(&text).document, document);
    // Lines swapped inside a phase change places; a new line stands behind the one above it.
    let swapped = text.replace("b1", "tmp").replace("b2", "b1").replace("tmp", "b2") + "- [ ] new\n";
    let contents: Vec<String> = read(&swapped).document.records.into_iter().map(|r| r.content).collect();
    assert_eq!(contents, ["b2", "a1", "loose", "b1", "new"]);
}

#[test]
fn people_write_todos_by_hand() {
    assert_snapshot!(brief(
        "Some prose.\n\n* [ ] loose\n\n## Phase one\n\n- [/] running\n  more about it\n\n  and more\n  > a note\n\n  > another\n  > of two lines\n\
         - [X] done\n- [~] dropped\n- [!] failed\n    1. [ ] nested\n       its text\n-  no box\n#hash\n- [ ] end  "
    ), @r#"
    - pending "loose" phase="-" description="-" notes=
    - in_progress "running" phase="Phase one" description="more about it\n\nand more" notes="a note"@None,"another\nof two lines"@None
    - completed "done" phase="Phase one" description="-" notes=
    - pending "dropped" phase="Phase one" description="-" notes=
    - failed "failed" phase="Phase one" description="-" notes=
    - pending "nested" phase="Phase one" description=" its text" notes=
    - pending "end" phase="Phase one" description="-" notes=
    phases=["Phase one"] ignored={"line 1", "line 20", "line 21"}
    "#);
}

#[test]
fn edits_of_the_visible_text_win() {
    let text = markdown::write(&Document::of(&plan()), None);
    let edited = text
        .replace("# Ship <!--", "# Deliver <!--")
        .replace("- [-] two lines -- > end", "- [x] one line")
        .replace("- [x] Schema", "- [ ] Schema, again")
        .replace("  > with  a gap", "  > no gap any more")
        .replace("  A form for settings.\n", "  A smaller form.\n");
    assert_snapshot!(brief(&edited), @r#"
    T-1 pending "Loose `end` with *stars*" phase="-" description="-" notes=
    T-2 pending "Schema, again" phase="Build it" description="-" notes=
    T-3 in_progress "Form" phase="Build it" description="A smaller form.\n\n  indented\nend" notes="first line\nsecond line"@Some(5),"no gap any more"@Some(5),"<!-- x -->"@Some(5)
    T-4 completed "one line" phase="Deliver" description="- [ ] not a todo" notes=
    T-5 failed "" phase="Deliver" description="-" notes=
    phases=["Build it", "Empty", "Deliver"] ignored={}
    "#);
}

#[test]
fn labels_stand_at_the_end_of_the_line() {
    let labels = |words: &[&str]| Label::parse_all(words.iter().copied()).unwrap();
    let plan = Sample::new()
        .with(0, Status::Pending, "Port the store", |t| t.labels = labels(&["area/store", "p1", "2026"]))
        .with(0, Status::Pending, "Fix #12", |t| t.labels = labels(&["bug"]))
        .with(0, Status::Pending, "About #tags", |t| t.labels = labels(&["docs"]))
        .todo(0, Status::Pending, "#only")
        .plan;
    let document = Document::of(&plan);
    let text = markdown::write(&document, None);
    assert_snapshot!(text, @r#"
    - [ ] Port the store #area/store #p1 <!-- punch {"id":"T-1","createdAt":0,"labels":["2026"]} -->
    - [ ] Fix #12 #bug <!-- punch {"id":"T-2","createdAt":0} -->
    - [ ] About #tags #docs <!-- punch {"id":"T-3","labels":["docs"],"createdAt":0,"content":"About #tags","shown":"3ae190d4"} -->
    - [ ] #only <!-- punch {"id":"T-4","createdAt":0} -->
    "#);
    assert_eq!(read(&text).document, document);
    let edited = text.replace(" #p1", " #p2").replace(" #bug", "").replace("About #tags #docs", "On tags #tags");
    let found = |at: usize, text: &str| {
        let record = &read(text).document.records[at];
        (record.content.clone(), record.labels.iter().map(Label::to_string).collect::<Vec<_>>().join(" "))
    };
    let pair = |content: &str, labels: &str| (content.to_owned(), labels.to_owned());
    assert_eq!(found(0, &edited), pair("Port the store", "2026 area/store p2"));
    assert_eq!(found(1, &edited), pair("Fix #12", ""));
    assert_eq!(found(2, &edited), pair("On tags", "tags"));
    assert_eq!(found(0, "- [ ] Write  #docs\t#Loud #easy #x"), pair("Write  #docs\t#Loud", "easy x"));
    let many: String = (0..30).map(|n| format!(" #l{n}")).collect();
    assert_eq!(read(&format!("- [ ] a{many}")).document.records[0].labels.len(), Label::MOST);
}

#[test]
fn deleted_and_added_notes_leave_the_others_their_dates() {
    let text = markdown::write(&Document::of(&plan()), None);
    let edited = text.replace("  > first line\n  > second line\n  >\n", "") + "  > hand-written\n";
    let notes = |text: &str, at: usize| -> Vec<(String, Option<i64>)> {
        read(text).document.records[at].notes.iter().map(|n| (n.text.clone(), n.at)).collect()
    };
    assert_eq!(notes(&edited, 2), [("with\n\na gap".to_owned(), Some(5)), ("<!-- x -->".to_owned(), Some(5))]);
    assert_eq!(notes(&edited, 4), [("hand-written".to_owned(), None)]);
}

#[test]
fn errors_are_collected_with_their_lines() {
    let refused = |text: &str| markdown_read::read(text).unwrap_err().message();
    assert_snapshot!(refused(
        "- [?] a\n- [ ] b <!-- punch {\"id\":\"T-1\" -->\n- [ ]\n#\n- [ ] c <!-- punch {\"priority\":9} -->\n\
         - [ ] d <!-- punch {\"id\":\"T-1\"} -->\n- [ ] e <!-- punch {\"id\":\"T-1\"} -->\n- [ ] f <!-- punch [] --> g\n\
         - [ ] h <!-- punch {\"notes\":3} -->\n- [ ] i <!-- punch {\"place\":-1} -->\n"
    ), @"
    line 1: unknown marker `[?]`; use [ ], [>], [x], [-], [~] or [!]
    line 2: the punch comment is not JSON: EOF while parsing an object at line 1 column 12
    line 3: the todo has no text
    line 4: the heading has no text
    line 5: priority must be 1 to 5
    line 7: the id `T-1` is taken by line 6
    line 8: the punch comment must end the line with `-->`
    line 9: notes must be a list of objects with text, at, by, shown
    line 10: place must be a whole number, not negative
    ");
    let many = refused(&"- [?] a\n".repeat(50));
    assert!(
        many.ends_with("line 20: unknown marker `[?]`; use [ ], [>], [x], [-], [~] or [!]\n30 more errors"),
        "{many}"
    );
}

/// A reader that takes the square of the size would need hours here, so finishing is the assertion.
#[test]
fn a_megabyte_of_hostile_input_is_read_to_its_end() {
    let mega = 1_000_000;
    for text in [
        "- [ ] ".repeat(mega / 6),
        "- [ ] <!-- punch ".repeat(mega / 17),
        format!("- [ ] a <!-- punch {} -->", "[".repeat(mega)),
        format!("- [ ] a\n{}", "  > \n  > x\n".repeat(mega / 10)),
        format!("- [ ] a\n{}", "\n  x\n".repeat(mega / 5)),
        format!("- [ ] a\n  x{}  y", "\n".repeat(mega)),
        "#".repeat(mega),
        "# a\n".repeat(mega / 4),
        ">".repeat(mega),
        "1".repeat(mega),
        " ".repeat(mega),
        "- [ ] a <!-- punch {\"place\":1} -->\n".repeat(mega / 36),
    ] {
        let _ = markdown_read::read(&text);
    }
}

proptest! {
    #[test]
    fn markdown_is_lossless(plan in plans()) {
        let document = Document::of(&plan);
        let written = markdown::write(&document, Some("Plan"));
        prop_assert!(!written.chars().any(|c| c.is_control() && c != '\n'));
        let parsed = read(&written);
        prop_assert_eq!(&parsed.document, &document, "{}", written);
        prop_assert!(parsed.ignored.is_empty());
        prop_assert_eq!(&read(&written.replace('\n', "\r\n")).document, &document);
    }

    #[test]
    fn whatever_is_read_is_written_back_the_same(lines in proptest::collection::vec(("(- \\[[ x>!-]\\] |  > |  |# |)", text()), 0..12)) {
        let input: String = lines.into_iter().map(|(start, text)| format!("{start}{text}\n")).collect();
        if let Ok(parsed) = markdown_read::read(&input) {
            let again = read(&markdown::write(&parsed.document, None));
            prop_assert_eq!(again.document, parsed.document);
        }
    }
}
