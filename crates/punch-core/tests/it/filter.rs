//! The filter language of lists and boards.

use punch_core::filter::{Filter, FilterState, Viewer};
use punch_core::reason::PlanReader;
use punch_core::{Label, Plan, Status};

use crate::sample::{Sample, hold, waits};

fn plan() -> Plan {
    Sample::new()
        .phase("Core")
        .phase("Docs")
        .with(1, Status::Completed, "Design the parser", |t| t.updated_at = 5)
        .with(1, Status::InProgress, "Write the parser", |t| {
            t.owner = Some("claude-1a2b".into());
            t.priority = 1;
        })
        .with(1, Status::Pending, "Test the parser", |t| waits(t, &[2]))
        .with(2, Status::Pending, "Write the docs", |t| {
            t.labels = [Label::parse("docs").unwrap()].into();
            t.priority = 1;
            t.updated_at = 50;
        })
        .with(2, Status::Pending, "Choose a name", |t| t.hold = Some(hold("which one?")))
        .todo(0, Status::Failed, "Set up CI")
        .with(0, Status::Pending, "Release: at last", |t| waits(t, &[6, 3]))
        .plan
}

/// The numbers of the todos that match.
fn found(filter: &str) -> Vec<u64> {
    let (plan, filter) = (plan(), Filter::parse(filter).unwrap());
    let on = filter.on(PlanReader::new(&plan, 100), Viewer { owner: None, seen_at: Some(20) }).unwrap();
    plan.live().into_iter().filter(|todo| on.matches(todo)).map(|todo| todo.uid.0).collect()
}

#[test]
fn every_key_filters_and_a_minus_negates() {
    for (filter, wanted) in [
        ("", vec![1, 2, 3, 4, 5, 6, 7]),
        ("parser", vec![1, 2, 3]),
        ("PARSER write", vec![2]),
        ("\"the parser\" -design", vec![2, 3]),
        ("T-4", vec![4]),
        ("is:ready", vec![4]),
        ("is:blocked", vec![3, 5, 7]),
        ("is:waiting", vec![3]),
        ("is:stuck", vec![7]),
        ("is:held", vec![5]),
        ("is:working", vec![2]),
        ("is:in_progress", vec![2]),
        ("is:done", vec![1]),
        ("is:failed", vec![6]),
        ("is:open -is:blocked", vec![2, 4]),
        ("is:closed", vec![1, 6]),
        ("is:unseen", vec![4]),
        ("p:1", vec![2, 4]),
        ("p:1 is:ready", vec![4]),
        ("by:claude", vec![2]),
        ("by:@Claude", vec![2]),
        ("-by:claude is:open", vec![3, 4, 5, 7]),
        ("phase:doc", vec![4, 5]),
        ("#docs", vec![4]),
        ("label:docs", vec![4]),
        ("-#docs p:1", vec![2]),
        ("needs:T-2", vec![3]),
        ("needs:3", vec![7]),
        ("under:T-7", vec![2, 3, 6]),
        ("\"release: at\"", vec![7]),
    ] {
        assert_eq!(found(filter), wanted, "{filter}");
    }
}

#[test]
fn what_is_not_understood_is_an_error_with_the_nearest_word() {
    let error = |filter: &str| Filter::parse(filter).unwrap_err().message();
    assert!(error("ist:ready").contains("unknown key `ist:`; did you mean `is:`?"), "{}", error("ist:ready"));
    assert!(error("is:redy").contains("did you mean `is:ready`?"), "{}", error("is:redy"));
    assert!(error("http://x").contains("quote the word"), "{}", error("http://x"));
    assert!(error("p:9").contains("1 to 5"), "{}", error("p:9"));
    assert!(error("is:").contains("needs a value"), "{}", error("is:"));
    assert!(error("\"open").contains("missing at the end"), "{}", error("\"open"));
    let (plan, filter) = (plan(), Filter::parse("needs:T-99").unwrap());
    assert_eq!(filter.on(PlanReader::new(&plan, 0), Viewer::default()).err().map(|e| e.code()), Some("unknown_todo"));
}

#[test]
fn every_state_has_a_name_that_is_read() {
    for state in FilterState::ALL {
        assert!(Filter::parse(&format!("is:{}", state.name())).is_ok(), "{}", state.name());
    }
}
