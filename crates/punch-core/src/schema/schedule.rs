//! The answer of a schedule.

use serde_json::Value;

use super::{about, count, list, object, text, word};
use crate::reason::Cause;
use crate::schedule::ScheduleOrder;

/// Fields of a schedule, all of them always there.
pub fn schedule() -> Vec<(&'static str, Value)> {
    let ids = || list(text());
    let group = object(&[("group", count()), ("todos", ids())], &[]);
    let window =
        object(&[("agent", count()), ("window", count()), ("todos", ids()), ("estimatedTokens", count())], &[]);
    let slot =
        object(&[("todo", text()), ("agent", count()), ("window", count()), ("start", count()), ("end", count())], &[]);
    let checkpoint = object(&[("after", text()), ("agent", count()), ("window", count())], &[]);
    let cause = word(Cause::NAMES);
    let blocked = object(&[("id", text()), ("cause", cause), ("why", text())], &[]);
    vec![
        ("policy", word(ScheduleOrder::ALL.map(ScheduleOrder::name))),
        ("agents", count()),
        ("contextWindow", about(count(), "tokens")),
        ("budget", about(count(), "tokens of work that a window may hold")),
        ("groups", about(list(group), "all todos by parallel group")),
        ("windows", list(window)),
        ("slots", about(list(slot), "times are in tokens")),
        ("makespan", about(count(), "when the last one ends")),
        ("lowerBound", about(count(), "no schedule can be shorter")),
        ("checkpoints", about(list(checkpoint), "between two windows of an agent")),
        ("oversize", about(ids(), "larger than a whole budget")),
        ("blocked", about(list(blocked), "open, and nobody can work on them")),
    ]
}
