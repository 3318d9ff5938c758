//! What a format can carry comes back; a second round changes nothing; nothing panics.

use proptest::prelude::*;
use punch_core::format::{self, Format};
use punch_core::{Document, Record, RecordStatus, Remark, Status};

use super::golden::FILES;

/// Texts that mean something to YAML, JSON, Markdown or a terminal.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-zA-Z ]{1,12}",
        "[ -~]{1,12}",
        any::<String>(),
        prop::sample::select(vec![
            "- [ ] x",
            "1. y",
            "T001 z",
            "# h",
            "> q",
            "```",
            "<!-- c",
            "a: b #",
            "---",
            "null",
            "true",
            "12",
            "'",
            "\"",
            "  - [x] deep",
            "(depends on T001)",
            "[P] p",
            "é漢",
            "\t",
            "\u{1b}[1m",
            "\u{85}",
            "\u{feff}",
            "Details:\n",
            "x\n\ny",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(word, 1..3).prop_map(|words| words.join(" "))
}

fn status() -> impl Strategy<Value = Status> {
    prop::sample::select(Status::ALL.to_vec())
}

/// A document with ids of one kind, edges to earlier and later todos, and texts of all kinds.
fn document() -> impl Strategy<Value = Document> {
    let todo =
        (text(), status(), prop::option::of(text()), prop::option::of(text()), prop::option::of(1..=5u8), any::<u8>());
    (prop::collection::vec(todo, 0..8), prop::sample::select(vec!["T-", "T00", "", "é"]), 0..3usize).prop_map(
        |(todos, prefix, phases)| {
            let id = |n: usize| format!("{prefix}{}", n + 1);
            let count = todos.len();
            let records =
                todos.into_iter().enumerate().map(|(n, (content, status, description, note, priority, mix))| {
                    let mix = usize::from(mix);
                    Record {
                        id: Some(id(n)),
                        content: if content.trim().is_empty() { "x".to_owned() } else { content },
                        status: RecordStatus::Stored(status),
                        description: description.filter(|text| !text.trim().is_empty()),
                        notes: note.into_iter().map(|text| Remark { text, at: Some(5_000), by: None }).collect(),
                        priority: priority.filter(|priority| *priority != 3),
                        depends_on: if mix.is_multiple_of(3) && mix % count != n {
                            vec![id(mix % count)]
                        } else {
                            Vec::new()
                        },
                        phase_index: if phases > 0 { Some((mix % phases) as u64) } else { None },
                        phase: if phases > 0 { Some(format!("Phase {}", mix % phases)) } else { None },
                        created_at: Some(1_000 * mix as i64),
                        ..Record::default()
                    }
                });
            let records: Vec<Record> = records
                .map(|mut record| {
                    record.phase_index = None;
                    record
                })
                .collect();
            Document { phases: (0..phases).map(|n| format!("Phase {n}")).collect(), records, edges: Vec::new() }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_can_be_read_and_does_not_change_again(document in document()) {
        for format in Format::all() {
            let Some(first) = format.write(&document) else { continue };
            let read = format.read(&first.text);
            prop_assert!(read.is_ok(), "{}: {:?}\n{}", format.name(), read, first.text);
            let read = read.unwrap().document;
            let second = format.write(&read).unwrap();
            let again = format.read(&second.text);
            prop_assert!(again.is_ok(), "{}: {:?}\n{}", format.name(), again, second.text);
            prop_assert_eq!(&again.unwrap().document, &read, "{}\n{}\n{}", format.name(), first.text, second.text);
        }
    }

    #[test]
    fn what_a_format_carries_comes_back(document in document()) {
        for format in Format::all() {
            let Some(written) = format.write(&document) else { continue };
            let read = format.read(&written.text).unwrap().document;
            // Losses are reported: a value that is not among them is there.
            let told = |what: &str| written.lost.iter().any(|lost| lost.contains(what));
            if told("todos that are") || told("order") {
                continue;
            }
            prop_assert_eq!(read.records.len(), document.records.len(), "{}\n{}", format.name(), written.text);
            for (went, came) in document.records.iter().zip(&read.records) {
                if !told("line breaks") && !told("texts") {
                    prop_assert_eq!(&went.content, &came.content, "{}\n{}", format.name(), &written.text);
                }
                if !told("status") && format != Format::Phases {
                    prop_assert_eq!(went.status, came.status, "{}\n{}", format.name(), &written.text);
                }
                if format.spec().carries.contains(&"description") && !told("description") {
                    prop_assert_eq!(&went.description, &came.description, "{}\n{}", format.name(), &written.text);
                }
                if format.spec().carries.contains(&"priority") && !told("priority") {
                    prop_assert_eq!(went.priority, came.priority, "{}\n{}", format.name(), &written.text);
                }
            }
            if format.spec().carries.contains(&"dependsOn") && !told("dependencies") {
                let edges = |d: &Document| d.records.iter().map(|r| r.depends_on.len()).sum::<usize>() + d.edges.len();
                prop_assert!(edges(&read) >= edges(&document), "{}\n{}", format.name(), written.text);
            }
        }
    }

    #[test]
    fn arbitrary_text_leads_to_an_answer(input in any::<String>()) {
        answered(&input);
    }

    #[test]
    fn damaged_files_lead_to_an_answer(
        file in 0..FILES.len(),
        cut in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        put in prop::sample::select(vec!["{", "]", "\"", "- ", "\n", "*a", "&a ", "null", "\u{0}", "  ", "\t", ": "]),
    ) {
        let mut text: Vec<char> = FILES[file].2.chars().collect();
        text.truncate(cut.index(text.len()) + 1);
        let at = at.index(text.len());
        text.splice(at..at, put.chars());
        answered(&text.into_iter().collect::<String>());
    }
}

fn answered(input: &str) {
    let _ = format::recognise(input, None);
    for format in Format::all() {
        if let Ok(parsed) = format.read(input) {
            for other in Format::all() {
                let _ = other.write(&parsed.document);
            }
        }
    }
}

#[test]
fn deferred_work_is_on_hold_and_slips_of_the_hand_are_read() {
    let text = "- [~] T001 later\n- [ x] T002 done\n- [x ] T003 done too\n- [] T004 open\n- [  ] T005 open too\n- [see](x.md) T006\n";
    for format in [Format::Checklist, Format::Spec] {
        let read = format.read(text).unwrap().document;
        let state: Vec<(RecordStatus, bool)> = read.records.iter().map(|r| (r.status, r.hold.is_some())).collect();
        let (open, done) = (RecordStatus::Stored(Status::Pending), RecordStatus::Stored(Status::Completed));
        let wanted = [(open, true), (done, false), (done, false), (open, false), (open, false)];
        assert_eq!(state, wanted, "{}", format.name());
        assert!(read.records[0].hold.as_ref().is_some_and(|hold| hold.reason == "deferred"), "{}", format.name());
        // What was put off stays so in a file that is written again.
        let written = format.write(&read).unwrap();
        assert!(written.text.contains("- [~] "), "{}", written.text);
        assert_eq!(format.read(&written.text).unwrap().document.records[0].hold, read.records[0].hold);
    }
    // A plain list is recognized as our own Markdown, which must not leave out any of them either.
    let plain = text.replace(" T00", " t");
    let recognized = format::recognise(&plain, Some("todo.md"));
    let read = recognized.read(&plain).unwrap().document;
    let state: Vec<(Status, bool)> = read.records.iter().map(|r| (r.status.stored(), r.hold.is_some())).collect();
    let (open, done) = (Status::Pending, Status::Completed);
    let wanted = [(open, true), (done, false), (done, false), (open, false), (open, false)];
    assert_eq!((recognized, &state[..]), (Format::Markdown, &wanted[..]));
    let cancelled = Document {
        records: vec![Record {
            content: "x".into(),
            status: RecordStatus::Stored(Status::Cancelled),
            ..Record::default()
        }],
        ..Document::default()
    };
    assert_eq!(Format::Checklist.write(&cancelled).unwrap().text, "- [-] x\n");
}
