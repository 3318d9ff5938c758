//! Every gate with its reason, and their order.

use punch_core::drive::{
    Block, ContextUse, Decision, DecisionInput, Finish, HostEvent, PendingCheck, Reason, Roots, Switch, Unproven,
    decide,
};
use punch_core::reason::Cause;

use super::{code, open, stopping};

fn with(change: impl FnOnce(&mut DecisionInput)) -> DecisionInput {
    let mut input = open();
    change(&mut input);
    input
}

fn block(id: &str, cause: Cause) -> Block {
    Block { id: id.into(), cause, about: "why".into() }
}

fn standstill(input: &mut DecisionInput, named: Vec<Block>) {
    input.facts.next = None;
    input.facts.roots = Roots { total: named.len() as u64, named, ..Roots::default() };
}

fn pending(id: &str, check: PendingCheck) -> Unproven {
    Unproven { id: id.into(), command: "make".into(), pending: Some(check), ..Unproven::default() }
}

/// Code, what closes it, sentence.
type Gate = (&'static str, fn(&mut DecisionInput), &'static str);

/// Gates in their order.
fn gates() -> Vec<Gate> {
    vec![
        ("no_session", |i| i.scene.named = false, "the agent did not identify its session"),
        ("disabled", |i| i.policy.enabled = false, "auto-continue is off in the settings"),
        ("switched_off", |i| i.scene.switch = Switch::Off, "auto-continue is switched off"),
        ("paused", |i| i.scene.switch = Switch::Paused, "auto-continue is paused"),
        ("subagent", |i| i.scene.subagent = true, "auto-continue does not apply to subagents"),
        ("foreign", |i| i.scene.foreign = true, "this session works on another plan"),
        ("unbound", |i| i.scene.bound = false, "this session has not written to the plan"),
        ("interrupted", |i| i.counters.interrupted = true, "the user interrupted the work"),
        ("finish", |i| i.event = stopping(Finish::Length), "the model did not end the turn itself (length)"),
        ("asked", |i| i.counters.asked = true, "the user is being asked"),
        (
            "background",
            |i| {
                if let HostEvent::Stopping { background, .. } = &mut i.event {
                    *background = 2;
                }
            },
            "2 background jobs are still running",
        ),
        ("compacting", |i| i.counters.compacting = Some(900), "the conversation is being compacted"),
        ("finished", |i| i.facts.open = 0, "every todo is closed"),
        ("failed", |i| (i.facts.open, i.facts.failed) = (0, 2), "every todo is closed, but 2 failed"),
        (
            "checks_running",
            |i| {
                standstill(i, vec![block("T-1", Cause::Reported)]);
                i.facts.unproven = vec![pending("T-2", PendingCheck::Approval), pending("T-1", PendingCheck::Running)];
            },
            "the check of T-1 is still running",
        ),
        (
            "checks_unapproved",
            |i| {
                standstill(i, vec![block("T-1", Cause::Reported)]);
                i.facts.unproven = vec![pending("T-1", PendingCheck::Approval), pending("T-2", PendingCheck::Approval)];
            },
            "the checks of T-1, T-2 need your approval",
        ),
        (
            "only_optional",
            |i| {
                i.facts.next = None;
                i.facts.roots.optional = vec!["T-9".into()];
            },
            "only optional todos are left: T-9",
        ),
        (
            "waits_for_people",
            |i| standstill(i, vec![block("T-1", Cause::Person)]),
            "every open todo is waiting for the user: T-1 (waiting for the user: why)",
        ),
        (
            "nothing_actionable",
            |i| standstill(i, vec![block("T-1", Cause::Person), block("T-2", Cause::Dropped)]),
            "no open todo can be worked on: T-1 (waiting for the user: why), T-2 (why)",
        ),
        ("failed_turns", |i| i.counters.failures = 5, "5 turns in a row failed"),
        (
            "cooling_down",
            |i| (i.counters.failures, i.counters.failed_at) = (1, Some(0)),
            "a turn has just failed; the next one may start in 9 s",
        ),
        (
            "context_full",
            |i| i.scene.context = Some(ContextUse { used: 90, limit: 100 }),
            "the context is nearly full (90 of 100 tokens)",
        ),
        (
            "plan_untouched",
            |i| (i.counters.untouched, i.counters.total) = (true, 1),
            "this turn did not touch the plan",
        ),
        ("no_progress", |i| i.counters.idle = 3, "3 continuations in a row made no progress"),
        ("max_continuations", |i| i.counters.continuations = 10, "the limit is 10 continuations without progress"),
        ("absolute_cap", |i| i.counters.total = 100, "the limit is 100 continuations after one message"),
        (
            "host_cap",
            |i| (i.counters.in_row, i.scene.host_cap) = (7, Some(8)),
            "the agent allows 8 continuations in a row",
        ),
        (
            "too_long",
            |i| i.counters.since = Some(1_000 - 120 * 60_000),
            "the last message from you was 120 minutes ago",
        ),
    ]
}

#[test]
fn an_open_way_is_taken() {
    assert_eq!(code(&open()), "continue");
}

#[test]
fn every_gate_stops_with_its_code_and_its_sentence() {
    for (name, close, sentence) in gates() {
        let Decision::Allow { reason } = decide(&with(close)) else { panic!("{name} does not stop") };
        assert_eq!((reason.code(), reason.text().as_str()), (name, sentence));
        let json = serde_json::to_value(&reason).unwrap();
        assert_eq!(json["code"], name, "the stored code is the code");
        assert_eq!(serde_json::from_value::<Reason>(json).unwrap(), reason);
    }
}

#[test]
fn of_several_closed_gates_the_first_is_the_reason() {
    let gates = gates();
    for (at, (name, close, _)) in gates.iter().enumerate() {
        for (later, also, _) in &gates[at + 1..] {
            let mut input = open();
            also(&mut input);
            close(&mut input);
            let got = code(&input);
            // These two say what the plan is like, and each takes the place of the other.
            let same = ["finished", "failed", "only_optional", "waits_for_people", "nothing_actionable"];
            if !(same.contains(name) && same.contains(later)) {
                assert_eq!(got, *name, "{name} before {later}");
            }
        }
    }
}

#[test]
fn finish_reasons_other_than_the_models_own_choice_stop() {
    for finish in [Finish::ToolUse, Finish::Length, Finish::Denied, Finish::Error, Finish::Unknown] {
        assert_eq!(code(&with(|i| i.event = stopping(finish))), "finish");
    }
    assert_eq!(code(&with(|i| i.event = stopping(Finish::Cancelled))), "interrupted");
    assert_eq!(code(&with(|i| i.event = HostEvent::Asked { text: String::new() })), "finish", "not a stop at all");
}

#[test]
fn limits_are_exact() {
    for (input, expected) in [
        (with(|i| i.counters.idle = 2), "continue"),
        (with(|i| i.counters.continuations = 9), "continue"),
        (with(|i| i.counters.total = 99), "continue"),
        (with(|i| i.counters.untouched = true), "continue"),
        (with(|i| (i.counters.untouched, i.counters.total, i.scene.unobserved) = (true, 1, true)), "continue"),
        (with(|i| (i.counters.in_row, i.scene.host_cap) = (6, Some(8))), "continue"),
        (with(|i| (i.counters.in_row, i.scene.host_cap) = (0, Some(1))), "host_cap"),
        (with(|i| i.now = 120 * 60_000 - 1), "continue"),
        (with(|i| (i.now, i.policy.max_minutes) = (i64::MAX, 0)), "continue"),
        (with(|i| i.counters.compacting = Some(1_000 - 60_000)), "continue"),
        (with(|i| (i.counters.compacting, i.counters.compacts_loudly) = (Some(999), true)), "continue"),
        (with(|i| (i.counters.failures, i.counters.failed_at) = (1, Some(-9_000))), "continue"),
        (with(|i| (i.counters.failures, i.counters.failed_at) = (2, Some(-9_000))), "cooling_down"),
        (with(|i| (i.counters.failures, i.counters.failed_at) = (4, Some(-78_999))), "cooling_down"),
        (with(|i| (i.counters.failures, i.counters.failed_at) = (4, Some(-79_000))), "continue"),
        (with(|i| i.scene.context = Some(ContextUse { used: 89, limit: 100 })), "continue"),
        (with(|i| i.scene.context = Some(ContextUse { used: 5, limit: 0 })), "continue"),
        (with(|i| i.policy.max_continuations = 0), "max_continuations"),
        (with(|i| (i.scene.subagent, i.policy.subagents) = (true, true)), "continue"),
        (with(|i| i.now = i64::MIN), "continue"),
    ] {
        assert_eq!(code(&input), expected, "{input:?}");
    }
}

#[test]
fn progress_opens_the_soft_gates_and_no_other() {
    let progress = |change: fn(&mut DecisionInput)| {
        code(&with(|i| {
            change(i);
            i.facts.progress = true;
        }))
    };
    assert_eq!(progress(|i| i.counters.idle = 3), "continue");
    assert_eq!(progress(|i| i.counters.continuations = 10), "continue");
    assert_eq!(progress(|i| (i.counters.untouched, i.counters.total) = (true, 1)), "continue");
    assert_eq!(progress(|i| i.counters.total = 100), "absolute_cap");
    assert_eq!(progress(|i| i.now = 120 * 60_000), "too_long");
}

#[test]
fn an_unknown_use_of_the_context_never_stops() {
    assert_eq!(code(&with(|i| (i.scene.context, i.policy.token_limit) = (None, 0.0))), "continue");
}

#[test]
fn people_are_told_when_work_is_left_and_nothing_else_goes_on_with_it() {
    let told: Vec<&str> = gates()
        .into_iter()
        .filter(|(_, close, _)| {
            let input = with(close);
            let Decision::Allow { reason } = decide(&input) else { return false };
            reason.tell(&input.facts).is_some()
        })
        .map(|(name, ..)| name)
        .collect();
    assert_eq!(
        told,
        [
            "checks_running",
            "checks_unapproved",
            "only_optional",
            "waits_for_people",
            "nothing_actionable",
            "failed_turns",
            "cooling_down",
            "context_full",
            "plan_untouched",
            "no_progress",
            "max_continuations",
            "absolute_cap",
            "host_cap",
            "too_long"
        ]
    );
    let ended = |progress: bool, total: u64| {
        let input =
            with(|i| (i.facts.open, i.facts.next, i.facts.progress, i.facts.total) = (0, None, progress, total));
        let Decision::Allow { reason } = decide(&input) else { panic!("it stops") };
        reason.tell(&input.facts)
    };
    assert_eq!(ended(true, 7).unwrap(), "punch: finished, all 7 todos are closed.");
    assert_eq!(ended(true, 1).unwrap(), "punch: finished, the only todo is closed.");
    assert_eq!((ended(false, 7), ended(true, 0)), (None, None), "only after something was done");
    let input = with(|i| i.counters.idle = 3);
    let Decision::Allow { reason } = decide(&input) else { panic!("it stops") };
    assert_eq!(
        reason.tell(&input.facts).unwrap(),
        "punch: stopped, 3 todos are open: 3 continuations in a row made no progress.\n\
         Next: read what the agent says, then send it a message."
    );
}

#[test]
fn a_stored_input_leads_to_the_same_decision() {
    for (_, close, _) in gates() {
        let input = with(close);
        let line = serde_json::to_string(&input).unwrap();
        let again: DecisionInput = serde_json::from_str(&line).unwrap();
        assert_eq!(decide(&again), decide(&input));
        let reply = punch_core::replay::line(punch_core::replay::Recording::Drive, line.as_bytes());
        assert!(reply.readable, "{}", reply.json);
        assert_eq!(reply.json["results"][0]["do"], "allow");
    }
}
