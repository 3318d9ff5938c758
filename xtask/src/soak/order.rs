//! What the clock says about a history: answers that were there before a question was asked belong to earlier revisions,
//! times do not go back, and reported tokens add up.

use std::collections::HashMap;
use std::time::Instant;

use serde_json::Value;

use super::history::HistoryEvent;
use super::journal::{JournalEntry, RevisionMark, TryOutcome};

/// How far the time of an event may lie outside of the time in which it was written, in milliseconds.
const SLACK: i64 = 5_000;

/// An acknowledged write with its revision.
struct AcknowledgedWrite<'a> {
    by: &'a str,
    revision: u64,
    /// It wrote that revision, and did not only see it.
    wrote: bool,
    asked: Instant,
    answered: Instant,
}

/// Finds writes that came after an answer and lie before it.
pub fn real_time(events: &[HistoryEvent], records: &[JournalEntry], faults: &mut Vec<String>) {
    let (mut contents, mut fences) = (HashMap::new(), HashMap::new());
    for event in events {
        if let Some(content) = event.field("content").and_then(Value::as_str).filter(|_| event.kind == "added") {
            contents.entry(content).or_insert(event.revision);
        }
        if let Some(fence) = event.field("fence").and_then(Value::as_u64) {
            fences.insert(fence, event.revision);
        }
    }
    let mut all: Vec<AcknowledgedWrite<'_>> = Vec::new();
    for record in records {
        let JournalEntry::Ordered { by, mark, asked, answered } = record else { continue };
        let found = match mark {
            RevisionMark::Revision(revision) => Some((*revision, false)),
            RevisionMark::Content(content) => contents.get(content.as_str()).map(|revision| (*revision, true)),
            RevisionMark::Fence(fence) => fences.get(fence).map(|revision| (*revision, true)),
        };
        // What is missing altogether is reported as lost.
        let Some((revision, wrote)) = found else { continue };
        all.push(AcknowledgedWrite { by, revision, wrote, asked: *asked, answered: *answered });
    }
    let mut by_answer: Vec<&AcknowledgedWrite<'_>> = all.iter().collect();
    by_answer.sort_by_key(|write| write.answered);
    let mut by_question: Vec<&AcknowledgedWrite<'_>> = all.iter().collect();
    by_question.sort_by_key(|write| write.asked);
    let mut before = by_answer.into_iter().peekable();
    let mut latest: Option<&AcknowledgedWrite<'_>> = None;
    for write in by_question {
        while let Some(earlier) = before.next_if(|earlier| earlier.answered < write.asked) {
            if latest.is_none_or(|latest| latest.revision < earlier.revision) {
                latest = Some(earlier);
            }
        }
        let Some(latest) = latest else { continue };
        if write.revision < latest.revision || (write.wrote && write.revision == latest.revision) {
            faults.push(format!(
                "out of order: {} was answered with revision {} before {} asked, which got revision {}",
                latest.by, latest.revision, write.by, write.revision
            ));
        }
    }
}

/// Finds events whose time goes back, or lies outside of `window`, in milliseconds since the epoch.
pub fn times(events: &[HistoryEvent], window: (i64, i64), faults: &mut Vec<String>) {
    for pair in events.windows(2) {
        if let [a, b] = pair
            && b.at < a.at
        {
            faults.push(format!("time goes back by {} ms in revision {}", a.at - b.at, b.revision));
        }
    }
    let outside = |event: &&HistoryEvent| event.at < window.0 - SLACK || event.at > window.1.saturating_add(SLACK);
    if let Some(event) = events.iter().find(outside) {
        faults.push(format!("revision {} has the time {}, outside of {window:?}", event.revision, event.at));
    }
}

/// Compares what was reported with the sum that is stored.
pub fn spent(records: &[JournalEntry], stored: u64, faults: &mut Vec<String>) {
    let (mut least, mut most) = (0, 0);
    for record in records {
        let JournalEntry::Spent { tokens, outcome } = record else { continue };
        match outcome {
            TryOutcome::Acknowledged => (least, most) = (least + tokens, most + tokens),
            TryOutcome::Refused => {}
            TryOutcome::Unknown => most += tokens,
        }
    }
    if !(least..=most).contains(&stored) {
        faults.push(format!("the ledger has {stored} tokens; {least} to {most} were reported"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn event(revision: u64, at: i64) -> HistoryEvent {
        HistoryEvent { revision, at, kind: "edited".into(), ..HistoryEvent::default() }
    }

    #[test]
    fn a_write_that_was_asked_for_after_an_answer_lies_behind_it() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let write = |revision, asked, answered| JournalEntry::Ordered {
            by: "w".into(),
            mark: RevisionMark::Revision(revision),
            asked: at(asked),
            answered: at(answered),
        };
        let faults = |records: &[JournalEntry]| {
            let mut faults = Vec::new();
            real_time(&[], records, &mut faults);
            faults
        };
        assert!(faults(&[write(1, 0, 10), write(2, 5, 20), write(1, 6, 9), write(3, 30, 40)]).is_empty());
        let wrong = faults(&[write(2, 0, 10), write(1, 11, 20)]);
        assert!(matches!(wrong.as_slice(), [one] if one.starts_with("out of order")), "{wrong:?}");
    }

    #[test]
    fn times_and_sums_are_judged() {
        let mut faults = Vec::new();
        times(&[event(1, 10), event(2, 10), event(3, 12)], (10, 12), &mut faults);
        spent(&[], 0, &mut faults);
        let spend = |tokens, outcome| JournalEntry::Spent { tokens, outcome };
        let records =
            [spend(5, TryOutcome::Acknowledged), spend(2, TryOutcome::Unknown), spend(9, TryOutcome::Refused)];
        spent(&records, 5, &mut faults);
        spent(&records, 7, &mut faults);
        assert_eq!(faults, Vec::<String>::new());
        times(&[event(1, 12), event(2, 10)], (0, 20), &mut faults);
        times(&[event(1, 1_000_000)], (0, 20), &mut faults);
        spent(&records, 4, &mut faults);
        spent(&records, 16, &mut faults);
        assert_eq!(faults.len(), 4, "{faults:?}");
    }
}
