//! The schema of a decision about an agent that wanted to stop, with all its input. Counters that are false, zero or
//! empty are left out.

use serde_json::Value;

use super::{about, any_of, count, list, named, number, object, only, or_null, text, time, word, yes_no};

/// Fields that the record of a decision has beside agent, plan and revision.
pub fn decided() -> Vec<(&'static str, Value)> {
    vec![
        ("facts", facts()),
        ("counters", counters()),
        ("event", stopping()),
        ("policy", policy()),
        ("scene", scene()),
        ("now", time()),
        ("decision", decision()),
    ]
}

/// The reasons for which an agent may stop: code, and what comes with it.
pub fn reasons() -> Vec<(&'static str, Vec<(&'static str, Value)>)> {
    vec![
        ("no_session", vec![]),
        ("disabled", vec![]),
        ("switched_off", vec![]),
        ("paused", vec![]),
        ("subagent", vec![]),
        ("unbound", vec![]),
        ("foreign", vec![]),
        ("finish", vec![("finish", finish())]),
        ("interrupted", vec![]),
        ("asked", vec![]),
        ("background", vec![("jobs", count())]),
        ("compacting", vec![]),
        ("finished", vec![]),
        ("failed", vec![("todos", count())]),
        ("only_optional", vec![("ids", list(text()))]),
        ("waits_for_people", vec![("roots", roots())]),
        ("nothing_actionable", vec![("roots", roots())]),
        ("checks_running", vec![("ids", list(text()))]),
        ("checks_unapproved", vec![("ids", list(text()))]),
        ("failed_turns", vec![("failures", count())]),
        ("cooling_down", vec![("seconds", count())]),
        ("context_full", vec![("used", count()), ("limit", count())]),
        ("host_cap", vec![("cap", count())]),
        ("max_continuations", vec![("limit", count())]),
        ("absolute_cap", vec![("limit", count())]),
        ("too_long", vec![("minutes", count())]),
        ("plan_untouched", vec![]),
        ("no_progress", vec![("times", count())]),
    ]
}

fn decision() -> Value {
    let go_on = object(
        &[
            ("do", only("continue")),
            ("text", about(text(), "for the model")),
            ("n", about(count(), "which one it is, counted by the limit that will end the loop first")),
            ("of", about(count(), "how many that limit allows")),
        ],
        &[],
    );
    let reason = |(code, fields): (&str, Vec<(&'static str, Value)>)| {
        object(&[vec![("code", only(code))], fields].concat(), &[])
    };
    let reasons = any_of(reasons().into_iter().map(reason).collect());
    any_of(vec![go_on, object(&[("do", only("allow")), ("reason", reasons)], &[])])
}

fn facts() -> Value {
    let more = [
        ("running", yes_no()),
        ("again", yes_no()),
        ("oversize", yes_no()),
        ("description", text()),
        ("criteria", text()),
        ("verify", text()),
    ];
    let named = object(&[("id", text()), ("content", text())], &more);
    let conflict = object(&[("id", text()), ("files", yes_no())], &[]);
    let always = [("revision", count()), ("open", count()), ("total", count()), ("progress", yes_no())];
    let about_check = [
        ("outcome", text()),
        ("tail", text()),
        ("pending", word(["running", "approval"])),
        ("attempts", count()),
        ("shell", yes_no()),
        ("by_itself", yes_no()),
    ];
    let unproven = object(&[("id", text()), ("command", text())], &about_check);
    let maybe = [
        ("failed", count()),
        ("next", named),
        ("conflicts", list(conflict)),
        ("unproven", list(unproven)),
        ("roots", roots()),
    ];
    object(&always, &maybe)
}

fn roots() -> Value {
    let causes = [
        "person",
        "hold",
        "timer",
        "elsewhere",
        "reported",
        "dropped",
        "missing",
        "circle",
        "blank",
        "files",
        "parked",
    ];
    let block = object(&[("id", text()), ("cause", word(causes))], &[("about", text())]);
    let maybe = [("cut", yes_no()), ("optional", list(text()))];
    named("roots", object(&[("named", list(block)), ("total", count())], &maybe))
}

fn counters() -> Value {
    let trouble = object(&[("todo", text()), ("tool", text()), ("times", count())], &[]);
    let turn = object(&[("revision", count()), ("at", time())], &[("marker", text()), ("placed", yes_no())]);
    let maybe = [
        ("going", yes_no()),
        ("continuations", count()),
        ("total", count()),
        ("idle", count()),
        ("in_row", count()),
        ("continuation", count()),
        ("of", count()),
        ("failures", count()),
        ("failed_at", time()),
        ("since", time()),
        ("seen", count()),
        ("first", count()),
        ("untouched", yes_no()),
        ("asked", yes_no()),
        ("interrupted", yes_no()),
        ("compacting", time()),
        ("compacts_loudly", yes_no()),
        ("ended", yes_no()),
        ("trouble", trouble),
        ("turns", list(turn)),
        ("told", count()),
        ("quiet", count()),
        ("edits", count()),
        ("introduced", yes_no()),
        ("reminded", count()),
        ("hushed", yes_no()),
        ("prompted", count()),
        ("shown", count()),
    ];
    object(&[], &maybe)
}

fn stopping() -> Value {
    let always = [("event", only("stopping")), ("finish", finish()), ("background", count()), ("kept_going", yes_no())];
    object(&always, &[])
}

fn finish() -> Value {
    word(["end_turn", "tool_use", "length", "cancelled", "denied", "error", "unknown"])
}

fn policy() -> Value {
    let always = [
        ("enabled", yes_no()),
        ("subagents", yes_no()),
        ("max_continuations", count()),
        ("absolute", count()),
        ("no_progress", count()),
        ("max_minutes", count()),
        ("token_limit", number()),
        ("skip_optional", yes_no()),
    ];
    object(&always, &[])
}

fn scene() -> Value {
    let context = object(&[("used", count()), ("limit", count())], &[]);
    let always = [
        ("named", yes_no()),
        ("subagent", yes_no()),
        ("bound", yes_no()),
        ("foreign", yes_no()),
        ("switch", word(["on", "paused", "off"])),
    ];
    let words = word(["all", "plain", "bare"]);
    let maybe =
        [("context", or_null(context)), ("host_cap", or_null(count())), ("unobserved", yes_no()), ("words", words)];
    object(&always, &maybe)
}
