//! The exchange form: what is written, what is read, what it asks for.

use insta::assert_snapshot;
use proptest::prelude::*;
use punch_core::{
    Add, CarriedHistory, Dep, Document, Edit, Hold, HoldKind, Keep, Note, Op, PhaseRef, Plan, Record, Ref, Refusal,
    Status, Uid,
};
use serde_json::json;

use crate::sample::{Sample, hold, note, plans, waits};

fn sample() -> Plan {
    Sample::new()
        .phase("Build")
        .phase("Empty")
        .with(1, Status::Completed, "Schema", |t| {
            t.finished_at = Some(7);
            t.notes = vec![note("done by hand")];
        })
        .with(1, Status::InProgress, "Form", |t| {
            t.active_form = Some("Building the form".to_owned());
            t.depends_on = vec![Dep::On(Uid(1)), Dep::Dangling("T-9".to_owned())];
            t.derived.unmet = 1;
            t.derived.level = 2;
            t.owner = Some("ann".to_owned());
            t.lease_until = Some(50);
            t.fence = 4;
            t.flags.stale_dependency = true;
        })
        .with(0, Status::Pending, "Ship", |t| {
            waits(t, &[2]);
            t.priority = 1;
            t.hold = Some(hold("sign-off"));
        })
        .plan
}

fn shown(plan: &Plan, number: u64, now: i64) -> String {
    serde_json::to_string_pretty(&Record::of(plan, plan.get(Uid(number)).unwrap(), now)).unwrap()
}

#[test]
fn a_reader_is_shown_derived_values() {
    let plan = sample();
    assert_snapshot!(shown(&plan, 2, 10), @r#"
    {
      "id": "T-2",
      "content": "Form",
      "activeForm": "Building the form",
      "status": "in_progress",
      "phase": "Build",
      "dependsOn": [
        "T-1",
        "T-9"
      ],
      "blocks": [
        "T-3"
      ],
      "parallelGroup": 2,
      "owner": "ann",
      "leaseUntil": 50,
      "fence": 4,
      "createdAt": 0,
      "updatedAt": 0,
      "flags": [
        "stalled",
        "staleDependency"
      ]
    }
    "#);
    assert_snapshot!(shown(&plan, 3, 10), @r#"
    {
      "id": "T-3",
      "content": "Ship",
      "status": "blocked",
      "priority": 1,
      "dependsOn": [
        "T-2"
      ],
      "hold": {
        "kind": "human",
        "reason": "sign-off",
        "by": "ann",
        "at": 5
      },
      "parallelGroup": 1,
      "createdAt": 0,
      "updatedAt": 0
    }
    "#);
}

#[test]
fn an_expired_lease_reads_as_blocked_or_pending_with_resume() {
    let plan = sample();
    let record = Record::of(&plan, plan.get(Uid(2)).unwrap(), 50);
    assert_eq!((record.status.name(), record.flags.stored.resume, record.flags.stalled), ("blocked", true, false));
}

#[test]
fn an_export_keeps_phases_and_leaves_owners_out() {
    assert_snapshot!(Document::of(&sample()).to_json(), @r#"
    {
      "schema": 1,
      "phases": ["Build","Empty"],
      "todos": [
        {"id":"T-1","content":"Schema","status":"completed","phase":"Build","notes":[{"text":"done by hand","at":5,"by":"ann"}],"createdAt":0,"finishedAt":7},
        {"id":"T-2","content":"Form","activeForm":"Building the form","status":"in_progress","phase":"Build","dependsOn":["T-1","T-9"],"createdAt":0,"flags":["staleDependency"]},
        {"id":"T-3","content":"Ship","status":"pending","priority":1,"dependsOn":["T-2"],"hold":{"kind":"human","reason":"sign-off","by":"ann","at":5},"createdAt":0}
      ]
    }
    "#);
    assert_snapshot!(Document::default().to_json(), @r#"
    {
      "schema": 1,
      "phases": [],
      "todos": []
    }
    "#);
}

#[test]
fn a_satisfied_dependency_on_a_removed_todo_is_not_exported() {
    let plan = Sample::new()
        .with(0, Status::Completed, "gone", |t| t.removed = Some(1))
        .with(0, Status::Pending, "left", |t| t.depends_on = vec![Dep::On(Uid(1))])
        .plan;
    assert_eq!(Document::of(&plan).records[0].depends_on, Vec::<String>::new());
    assert_eq!(Record::of(&plan, plan.get(Uid(2)).unwrap(), 0).depends_on, ["T-1"]);
}

fn refused(value: serde_json::Value) -> String {
    match Document::from_value(value).and_then(|parsed| parsed.document.ops()) {
        Ok(_) => "accepted".to_owned(),
        Err(refusal) => refusal.message(),
    }
}

#[test]
fn wrong_values_are_named_by_their_place() {
    let todo = |value: serde_json::Value| refused(json!([{"content": "a"}, value]));
    let messages = [
        refused(json!(1)),
        refused(json!({"phases": []})),
        refused(json!({"schema": 2, "todos": []})),
        refused(json!({"phases": [1], "todos": []})),
        refused(json!({"phases": ["A"], "todos": [{"content": "a", "phaseIndex": 1}]})),
        refused(json!({"phases": ["A"], "todos": [{"content": "a", "phaseIndex": 0, "phase": "B"}]})),
        todo(json!("b")),
        todo(json!({"status": "pending"})),
        todo(json!({"title": "a", "content": "b"})),
        todo(json!({"title": 7})),
        todo(json!({"title": "b", "priority": 6})),
        todo(json!({"title": "b", "priority": "high"})),
        todo(json!({"title": "b", "status": "done"})),
        todo(json!({"title": "b", "dependsOn": "T-1"})),
        todo(json!({"title": "b", "id": ""})),
        todo(json!({"title": "b", "hold": {"kind": "mood"}})),
        todo(json!({"title": "b", "notes": [1]})),
        todo(json!({"title": "b", "flags": ["nice"]})),
        todo(json!({"title": "b", "complexity": "huge"})),
        refused(json!([{"id": "a", "title": "x"}, {"id": "a", "title": "y"}])),
    ];
    assert_snapshot!(messages.join("\n"), @"
    must be an object with `todos`, or a list of todos
    todos: must be a list
    schema: 2 is unknown; this version reads 1
    phases: must be a list of strings
    todos[0].phaseIndex: no such phase
    todos[0].phaseIndex: is not the phase named in `phase`
    todos[1]: must be an object
    todos[1].content: is missing
    todos[1].title: differs from `content`; give one of them
    todos[1].content: must be a string
    todos[1].priority: must be 1 to 5
    todos[1].priority: must be 1 to 5
    todos[1].status: must be pending, in_progress, completed, cancelled, failed or blocked
    todos[1].dependsOn: must be a list of strings
    todos[1].id: is empty
    todos[1].hold: must be an object with kind (human, external, timer, job, other, parked, conflict), reason, until
    todos[1].notes: must be a list of strings or of objects with text, at, by
    todos[1].flags: may contain only resume, stale, staleDependency, reported, unchecked
    todos[1].complexity: must be trivial, small, medium, large or epic
    id `a` is already in use
    ");
    assert!(Document::from_json("[").is_err());
    assert!(Document::from_json(&"[".repeat(1_000_000)).is_err());
}

#[test]
fn input_is_read_leniently() {
    let parsed = Document::from_json(
        r#"{"todos": [
            {"id": "a", "title": "A", "content": "A", "phase": "New", "color": "red", "description": null},
            {"content": "B", "notes": ["plain", {"text": "dated", "at": 5}], "hold": "the boss", "flags": ["assumed"]}
        ], "owner": "x"}"#,
    )
    .unwrap();
    assert_eq!(parsed.ignored.into_iter().collect::<Vec<_>>(), ["color", "owner"]);
    assert_eq!(parsed.document.phases, ["New"]);
    assert_snapshot!(parsed.document.to_json(), @r#"
    {
      "schema": 1,
      "phases": ["New"],
      "todos": [
        {"id":"a","content":"A","status":"pending","phase":"New"},
        {"content":"B","status":"pending","hold":{"kind":"other","reason":"the boss"},"notes":["plain",{"text":"dated","at":5}]}
      ]
    }
    "#);
}

fn ops(value: serde_json::Value) -> Vec<Op> {
    Document::from_value(value).unwrap().document.ops().unwrap()
}

fn add(content: &str) -> Add {
    Add { edit: Edit { content: Keep::Set(content.to_owned()), ..Edit::default() }, ..Add::default() }
}

#[test]
fn ops_add_phases_first_and_name_them_by_index() {
    let got = ops(json!({"phases": ["A", "A"], "todos": [
        {"id": "x", "content": "one", "phase": "A", "phaseIndex": 1, "dependsOn": ["y"], "status": "completed"},
        {"content": "two", "notes": ["n"]},
    ]}));
    let mut one = add("one");
    one.id = Some("x".to_owned());
    one.status = Status::Completed;
    one.edit.phase = Keep::Set(Some(PhaseRef::Index(1)));
    one.edit.depends_on = Keep::Set(vec![Ref::Id("y".to_owned())]);
    let two = Add { notes: vec!["n".to_owned()], ..add("two") };
    let name = || PhaseRef::Name("A".to_owned());
    assert_eq!(got, [Op::Phases(vec![name(), name()]), Op::Add(one), Op::Add(two)]);
}

#[test]
fn dated_notes_are_carried_and_later_ones_are_new() {
    let got = ops(
        json!([{"content": "a", "createdAt": 3, "notes": ["first", {"text": "second", "at": 5, "by": "ann"}, "third"]}]),
    );
    let notes = vec![
        Note { text: "first".to_owned(), at: 3, by: String::new() },
        Note { text: "second".to_owned(), at: 5, by: "ann".to_owned() },
    ];
    let carried = CarriedHistory { notes, created_at: Some(3), ..CarriedHistory::default() };
    let added = Add { carried: Some(Box::new(carried)), ..add("a") };
    assert_eq!(got, [Op::Add(added), Op::Note(Ref::New(0), "third".to_owned())]);
}

#[test]
fn blocked_becomes_a_hold_only_where_nothing_else_is_waited_for() {
    let got = ops(json!([
        {"id": "a", "content": "a", "status": "completed", "blocks": ["c"]},
        {"id": "b", "content": "b", "status": "blocked", "dependsOn": ["d"]},
        {"id": "c", "content": "c", "status": "blocked", "dependsOn": ["a"]},
        {"id": "d", "content": "d", "blocks": ["e"]},
        {"id": "e", "content": "e", "status": "blocked"},
    ]));
    let holds: Vec<Option<Hold>> = got
        .into_iter()
        .map(|op| match op {
            Op::Add(add) => {
                assert!(add.status == Status::Pending || add.id.as_deref() == Some("a"));
                add.hold
            }
            _ => None,
        })
        .collect();
    let blocked = Hold { kind: HoldKind::Other, reason: "blocked".to_owned(), until: None, by: String::new(), at: 0 };
    assert_eq!(holds, [None, None, Some(blocked), None, None]);
}

#[test]
fn a_document_built_by_hand_is_checked_too() {
    let record = |id: &str| Record { id: Some(id.to_owned()), ..Record::default() };
    let of = |record| Document { records: vec![record], ..Document::default() }.ops();
    assert!(matches!(of(record("")), Err(Refusal::Invalid { .. })));
    assert!(matches!(of(Record { priority: Some(0), ..record("a") }), Err(Refusal::Invalid { .. })));
    assert!(matches!(of(Record { phase: Some("A".to_owned()), ..record("a") }), Err(Refusal::UnknownPhase { .. })));
    let twice = Document { records: vec![record("a"), record("a")], ..Document::default() };
    assert_eq!(twice.ops(), Err(Refusal::DuplicateId { id: "a".to_owned() }));
}

proptest! {
    #[test]
    fn json_is_lossless(plan in plans()) {
        let document = Document::of(&plan);
        let parsed = Document::from_json(&document.to_json()).unwrap();
        prop_assert!(parsed.ignored.is_empty());
        prop_assert_eq!(&parsed.document, &document);
        prop_assert_eq!(&Document::from_value(serde_json::to_value(&document).unwrap()).unwrap().document, &document);
        prop_assert!(document.ops().is_ok());
    }

    #[test]
    fn a_record_is_what_the_document_holds(plan in plans()) {
        let document = Document::of(&plan);
        let each: Vec<Record> = plan.live().into_iter().map(|todo| Record::stored(&plan, todo)).collect();
        prop_assert_eq!(document.records, each);
    }

    #[test]
    fn what_a_reader_is_shown_can_be_imported(plan in plans(), now: i64) {
        let shown: Vec<Record> = plan.live().into_iter().map(|todo| Record::of(&plan, todo, now)).collect();
        let parsed = Document::from_value(serde_json::to_value(&shown).unwrap()).unwrap();
        prop_assert!(parsed.document.ops().is_ok());
    }
}

#[test]
fn whole_numbers_may_be_written_with_a_point_or_an_exponent() {
    let read = |tokens: &str| {
        let text = format!(r#"{{"content": "a", "estimatedTokens": {tokens}, "priority": 2.0}}"#);
        serde_json::from_str::<Record>(&text).map(|record| (record.estimated_tokens, record.priority)).ok()
    };
    for (tokens, expected) in [("20000.0", 20_000), ("1e15", 1_000_000_000_000_000), ("-0.0", 0)] {
        assert_eq!(read(tokens), Some((Some(expected), Some(2))), "{tokens}");
    }
    for tokens in ["1.5", "-1.0", "1e16", "1e300"] {
        assert_eq!(read(tokens), None, "{tokens}");
    }
}
