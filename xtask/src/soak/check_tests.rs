//! Histories with one thing wrong each: the checker must name it. And one in which all is right.

use serde_json::{Value, json};

use super::*;

const UNDER: WriterConditions = WriterConditions { lease: 1_000, window: (0, i64::MAX), tokens: None };

fn event(revision: u64, kind: &str, by: &str, todo: u64, fields: &[(&str, Value)]) -> HistoryEvent {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let at = i64::try_from(revision).unwrap_or_default() * 10;
    HistoryEvent { revision, seq: 0, kind: kind.into(), at, by: by.into(), undoes: None, todo: Some(todo), fields }
}

fn added(revision: u64, by: &str, todo: u64, content: &str) -> HistoryEvent {
    event(revision, "added", by, todo, &[("id", json!(format!("T-{todo}"))), ("content", json!(content))])
}

fn claimed(revision: u64, by: &str, todo: u64, fence: u64) -> HistoryEvent {
    let fields = [("status", json!("in_progress")), ("owner", json!(by)), ("fence", json!(fence))];
    event(revision, "claimed", by, todo, &fields)
}

/// What an agent's `start` stores.
fn started(revision: u64, by: &str, todo: u64, fence: u64) -> HistoryEvent {
    HistoryEvent { kind: "started".into(), ..claimed(revision, by, todo, fence) }
}

fn status(revision: u64, kind: &str, by: &str, status: &str) -> HistoryEvent {
    event(revision, kind, by, 1, &[("status", json!(status))])
}

fn undo(revision: u64, by: &str, of: u64) -> HistoryEvent {
    HistoryEvent { undoes: Some(of), ..event(revision, "reverted", by, 1, &[("removed", json!(revision))]) }
}

fn add(by: &str, contents: &[&str], acknowledged: bool) -> JournalEntry {
    let outcome = if acknowledged { TryOutcome::Acknowledged } else { TryOutcome::Unknown };
    JournalEntry::Add { by: by.into(), contents: contents.iter().map(|c| (*c).to_owned()).collect(), outcome }
}

fn done(by: &str, acknowledged: Option<u64>) -> JournalEntry {
    JournalEntry::Done { by: by.into(), id: "T-1".into(), acknowledged }
}

fn claim(by: &str, fence: u64) -> JournalEntry {
    JournalEntry::Claim { by: by.into(), id: "T-1".into(), fence }
}

/// The only fault of a history begins like this.
fn flags(events: &[HistoryEvent], records: &[JournalEntry], word: &str) {
    let faults = check(events, records, &UNDER);
    assert!(matches!(faults.as_slice(), [one] if one.starts_with(word)), "{word}: {faults:?}");
}

#[test]
fn a_history_that_holds_every_promise_is_sound() {
    let events = [
        added(1, "w1", 1, "a"),
        claimed(2, "w1", 1, 1),
        status(3, "completed", "w1", "completed"),
        status(4, "reopened", "w2", "pending"),
        added(5, "w2", 2, "b"),
        HistoryEvent { undoes: Some(5), todo: Some(2), ..undo(6, "w2", 5) },
    ];
    let undone = JournalEntry::Undo { by: "w2".into(), target: 5, revision: 6, own: true };
    let records = [
        add("w1", &["a"], true),
        add("w2", &["b"], true),
        add("w3", &["killed"], false),
        claim("w1", 1),
        done("w1", Some(3)),
        undone,
    ];
    assert_eq!(check(&events, &records, &UNDER), Vec::<String>::new());
}

#[test]
fn an_acknowledged_write_that_is_missing_is_lost() {
    flags(&[added(1, "w1", 1, "a")], &[add("w1", &["b"], true)], "lost: [\"b\"]");
    flags(&[added(1, "w1", 1, "a")], &[add("w1", &["a", "b"], true)], "lost: [\"a\", \"b\"]");
    flags(&[added(1, "w1", 1, "a")], &[done("w1", Some(1))], "lost: w1 was told");
    flags(&[added(1, "w1", 1, "a")], &[done("w1", Some(2))], "lost: revision 2");
    flags(&[added(1, "w1", 1, "a")], &[claim("w1", 1)], "lost: the claim");
    let undone = JournalEntry::Undo { by: "w1".into(), target: 1, revision: 2, own: true };
    flags(&[added(1, "w1", 1, "a")], &[undone], "lost: the undo");
}

#[test]
fn a_write_that_is_there_twice_or_in_part_is_named() {
    flags(&[added(1, "w1", 1, "a"), added(2, "w1", 2, "a")], &[add("w1", &["a"], true)], "doubled");
    flags(&[added(1, "w1", 1, "a"), added(2, "w1", 2, "a")], &[add("w1", &["a"], false)], "doubled");
    flags(&[added(1, "w1", 1, "a")], &[add("w1", &["a", "b"], false)], "torn");
    let refused = JournalEntry::Add { by: "w1".into(), contents: vec!["a".into()], outcome: TryOutcome::Refused };
    flags(&[added(1, "w1", 1, "a")], &[refused], "stored although refused");
    let twice =
        [added(1, "w1", 1, "a"), status(2, "completed", "w1", "completed"), status(3, "completed", "w2", "completed")];
    flags(&twice, &[], "completed twice");
    flags(&[added(1, "w1", 1, "a"), added(2, "w1", 2, "b")], &[add("w1", &["a", "b"], true)], "torn");
    let listed = JournalEntry::Listed { contents: vec!["a".into()] };
    flags(&[added(1, "s", 1, "a"), added(2, "s", 2, "a")], &[listed], "doubled");
    let events = [
        added(1, "w1", 1, "a"),
        status(2, "completed", "w1", "completed"),
        status(3, "reopened", "w1", "pending"),
        status(4, "completed", "w1", "completed"),
    ];
    flags(&events, &[done("w1", Some(2))], "doubled: w1 completed T-1 2 times in 1 tries");
}

#[test]
fn gaps_and_fences_that_do_not_grow_are_named() {
    flags(&[added(1, "w1", 1, "a"), added(3, "w1", 2, "b")], &[], "gap");
    let second = HistoryEvent { seq: 2, ..added(1, "w1", 2, "b") };
    flags(&[added(1, "w1", 1, "a"), second], &[], "gap");
    let events = [added(1, "w1", 1, "a"), added(2, "w1", 2, "b"), claimed(3, "w1", 1, 5), claimed(4, "w1", 2, 5)];
    flags(&events, &[], "fence 5");
    let together = |fences: [u64; 2]| {
        let [first, second] = [claimed(3, "w1", 1, fences[0]), claimed(3, "w1", 2, fences[1])];
        [added(1, "w1", 1, "a"), added(2, "w1", 2, "b"), first, HistoryEvent { seq: 1, ..second }]
    };
    flags(&together([5, 5]), &[], "fence 5");
    assert_eq!(check(&together([6, 5]), &[], &UNDER), Vec::<String>::new());
    flags(&events[..3], &[claim("w1", 5), claim("w1", 5)], "doubled: fence 5");
}

#[test]
fn an_undo_must_mean_what_stands_and_is_its_own() {
    let events = [added(1, "w1", 1, "a"), undo(2, "w1", 1), undo(3, "w1", 1)];
    flags(&events, &[], "revision 3 undid revision 1, which was undone already");
    let again = [added(1, "w1", 1, "a"), undo(2, "w1", 1), undo(3, "w1", 2), undo(4, "w1", 1), undo(5, "w1", 4)];
    assert_eq!(check(&again, &[], &UNDER), Vec::<String>::new());
    let undone = JournalEntry::Undo { by: "w2".into(), target: 1, revision: 2, own: true };
    flags(&[added(1, "w1", 1, "a"), undo(2, "w2", 1)], &[undone], "w2 undid revision 1");
}

#[test]
fn a_status_that_another_agent_changes_under_a_live_lease_is_named() {
    for (kind, to) in [("completed", "completed"), ("reopened", "pending"), ("demoted", "pending")] {
        let events = [added(1, "w1", 1, "a"), claimed(2, "w1", 1, 1), status(3, kind, "w2", to)];
        flags(&events, &[], "under a lease");
    }
    // An agent's `start` is a claim; the user's is none.
    let by_start = [added(1, "w1", 1, "a"), started(2, "w1", 1, 1), status(3, "completed", "w2", "completed")];
    flags(&by_start, &[], "under a lease");
    let by_user = [added(1, "w1", 1, "a"), started(2, USER, 1, 1), status(3, "completed", "w2", "completed")];
    assert_eq!(check(&by_user, &[], &UNDER), Vec::<String>::new());
    let start = [added(1, "w1", 1, "a"), claimed(2, "w1", 1, 1)];
    let with = |last: HistoryEvent| [start.to_vec(), vec![last]].concat();
    flags(&with(event(3, "removed", "w2", 1, &[("removed", json!(30))])), &[], "under a lease");
    flags(&with(undo(3, "w2", 2)), &[], "under a lease");
    flags(&with(claimed(3, "w2", 1, 2)), &[], "under a lease");
    flags(&with(started(3, "w2", 1, 2)), &[], "under a lease");
    let late = HistoryEvent { at: 20 + UNDER.lease, ..status(3, "lease_expired", "w2", "pending") };
    for allowed in [status(3, "completed", "w1", "completed"), status(3, "cancelled", USER, "cancelled"), late] {
        assert_eq!(check(&with(allowed), &[], &UNDER), Vec::<String>::new());
    }
}
