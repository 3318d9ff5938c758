//! What is written fits its schema, and the schema has everything that is written.

use proptest::prelude::*;
use punch_core::drive::{
    Block, ContextUse, Counters, DecisionInput, DecisionScene, Finish, HostEvent, KeepGoing, NamedTodo, PendingCheck,
    PlanFacts, Reason, Roots, Switch, Unproven, Vocabulary, decide,
};
use punch_core::reason::Cause;
use punch_core::schedule::{ScheduleOrder, ScheduleRequest, schedule};
use punch_core::{Document, Record, schema};
use punch_testkit::schema::wrong;
use serde_json::{Value, json};

use crate::sample::plans;

/// As it is published.
fn whole(schema: Value) -> Value {
    schema::titled("", "", schema)
}

/// An input with everything that can be there.
fn input(choice: u32, open: u64, next: bool, cause: Cause) -> DecisionInput {
    let every = |n: u32| choice.is_multiple_of(n);
    let finish = [Finish::EndTurn, Finish::EndTurn, Finish::Length, Finish::Cancelled][choice as usize % 4];
    let named = NamedTodo {
        id: "T-1".into(),
        content: "Write it".into(),
        running: every(2),
        again: every(3),
        oversize: every(5),
        description: every(2).then(|| "more".into()),
        criteria: every(2).then(|| "works".into()),
        verify: None,
    };
    let block = Block { id: "T-2".into(), cause, about: "Ann".into() };
    let total = u64::from(cause != Cause::Blank);
    let roots = Roots { named: vec![block], total, cut: every(5), optional: vec!["T-9".into()] };
    let unproven = Unproven {
        id: "T-1".into(),
        command: "make".into(),
        outcome: every(2).then(|| "failed".into()),
        tail: "x".into(),
        pending: every(4).then_some(PendingCheck::Approval),
        attempts: choice % 3,
        shell: every(3),
        by_itself: every(6),
    };
    DecisionInput {
        facts: PlanFacts {
            open,
            total: 9,
            next: next.then_some(named),
            roots,
            unproven: vec![unproven],
            ..PlanFacts::default()
        },
        counters: Counters {
            going: true,
            continuations: choice % 12,
            total: choice % 101,
            idle: choice % 4,
            in_row: choice % 9,
            continuation: choice % 3,
            of: choice % 4,
            shown: u64::from(choice % 5),
            failures: choice % 7,
            failed_at: Some(1),
            since: Some(1),
            seen: 3,
            first: 400,
            untouched: every(31),
            asked: every(11),
            told: 2,
            quiet: 1,
            edits: 1,
            introduced: true,
            reminded: 7,
            prompted: 9,
            ..Counters::default()
        },
        event: HostEvent::Stopping { finish, background: u32::from(every(13)), kept_going: true },
        policy: KeepGoing::default(),
        scene: DecisionScene {
            named: !every(17),
            bound: !every(19),
            foreign: every(23),
            subagent: every(29),
            switch: [Switch::On, Switch::On, Switch::On, Switch::Paused, Switch::Off][choice as usize % 5],
            context: Some(ContextUse { used: u64::from(choice % 100), limit: 100 }),
            host_cap: every(7).then_some(8),
            unobserved: every(2),
            words: if every(3) { Vocabulary::StatusOnly } else { Vocabulary::Full },
        },
        now: i64::from(choice) * 60_000,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn documents_and_records_fit_their_schemas(plan in plans(), now in 0_i64..100) {
        let written: Value = serde_json::from_str(&Document::of(&plan).to_json()).unwrap();
        prop_assert_eq!(wrong(&whole(schema::document()), &written), [""; 0]);
        for todo in plan.live() {
            let record = serde_json::to_value(Record::of(&plan, todo, now)).unwrap();
            prop_assert_eq!(wrong(&whole(schema::todo()), &record), [""; 0]);
        }
        let object = schema::object(&schema::schedule(), &[]);
        for order in ScheduleOrder::ALL {
            let made = schedule(&plan, &ScheduleRequest { order, agents: 2, context: 30_000, ..ScheduleRequest::default() }, now);
            prop_assert_eq!(wrong(&object, &serde_json::to_value(made).unwrap()), [""; 0]);
        }
    }

    #[test]
    fn decisions_fit_their_schema(choice in any::<u32>(), open in 0_u64..3, next in any::<bool>(), cause in 0_usize..8) {
        let causes = [
            Cause::Person, Cause::Hold, Cause::Timer, Cause::Elsewhere, Cause::Dropped, Cause::Missing, Cause::Cycle,
            Cause::Blank,
        ];
        let input = input(choice, open, next, causes[cause]);
        let mut record = serde_json::to_value(&input).unwrap();
        record["decision"] = serde_json::to_value(decide(&input)).unwrap();
        prop_assert_eq!(wrong(&whole(schema::object(&schema::decided(), &[])), &record), [""; 0]);
    }
}

/// A value for a schema, the first that comes to mind.
fn example(schema: &Value) -> Value {
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    match schema["type"].as_str() {
        Some("integer") => json!(1),
        Some("array") => json!([]),
        Some("object") => {
            let needed = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            needed.map(|key| (key.to_owned(), example(&schema["properties"][key]))).collect()
        }
        _ => json!("x"),
    }
}

#[test]
fn every_reason_of_the_schema_is_one() {
    let mut codes = Vec::new();
    for (code, fields) in schema::reasons() {
        let mut value = json!({"code": code});
        for (name, schema) in fields {
            value[name] = example(&schema);
        }
        let reason: Reason = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(reason.code(), code);
        // Nothing was left out, and nothing is missing.
        let again = serde_json::to_value(&reason).unwrap();
        assert_eq!(again.as_object().unwrap().len(), value.as_object().unwrap().len(), "{again}");
        codes.push(code);
    }
    // serde names every variant when it meets one that it does not know.
    let error = serde_json::from_value::<Reason>(json!({"code": "?"})).unwrap_err().to_string();
    let known: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
    assert_eq!(known, codes);
}
