//! Counters over whole stories: the loop halts within its caps whatever the agent and its host do.

use proptest::prelude::*;
use punch_core::drive::{
    Counters, Decision, DecisionInput, DecisionScene, Finish, HostEvent, KeepGoing, NamedTodo, PlanFacts, Roots,
    SessionStart, ToolKind, ToolUse, TurnBefore, decide,
};

fn tool(kind: ToolKind) -> ToolUse {
    ToolUse::new("x", kind)
}

/// Anything that a host can report without the user.
fn event(choice: u8) -> HostEvent {
    let finish = Finish::EndTurn;
    match choice % 12 {
        0 => HostEvent::Prompted { by_person: false },
        1 => HostEvent::ToolStarting { tool: tool(ToolKind::Ours) },
        2 => HostEvent::ToolEnded { tool: tool(ToolKind::Edit) },
        3 => HostEvent::ToolFailed { tool: tool(ToolKind::Other), error: String::new(), interrupted: false },
        4 => HostEvent::Compacting,
        5 => HostEvent::SessionStarted { how: SessionStart::Compact },
        6 => HostEvent::TurnFailed { error: String::new() },
        7 => HostEvent::SessionStarted { how: SessionStart::Resume },
        _ => HostEvent::Stopping { finish, background: u32::from(choice == 8), kept_going: choice & 1 == 1 },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_loop_halts_within_its_caps(
        choices in proptest::collection::vec((any::<u8>(), any::<bool>(), 0i64..200_000), 0..600),
        max in 0u32..12, absolute in 0u32..40, no_progress in 1u32..6, cap in proptest::option::of(0u32..10),
        total in 0u32..200, idle in 0u32..9,
    ) {
        let policy = KeepGoing { max_continuations: max, absolute, no_progress, ..KeepGoing::default() };
        let mut counters = Counters { total, idle, ..Counters::default() };
        let (mut now, mut given, mut without, mut unused, mut row) = (0, 0, 0, 0, 0);
        for (choice, progress, passed) in choices {
            now += passed;
            let event = event(choice);
            counters.observe(&event, now);
            if matches!(event, HostEvent::ToolEnded { .. }) {
                row = 0;
            }
            if matches!(event, HostEvent::ToolEnded { .. } | HostEvent::ToolFailed { .. }) {
                unused = 0;
            }
            if !matches!(event, HostEvent::Stopping { .. }) {
                continue;
            }
            let next = (choice % 7 != 0).then(NamedTodo::default);
            let facts = PlanFacts { revision: 1, open: 2, total: 3, next, progress, roots: Roots::default(), ..PlanFacts::default() };
            let scene = DecisionScene { named: true, bound: true, host_cap: cap, ..DecisionScene::default() };
            let input = DecisionInput { facts, counters: counters.clone(), event, policy: policy.clone(), scene, now };
            let decision = decide(&input);
            counters.decided(&decision, &input.facts);
            if progress {
                (without, unused) = (0, 0);
            }
            if let Decision::Continue { n, of, .. } = decision {
                (given, without, unused, row) = (given + 1, without + 1, unused + 1, row + 1);
                prop_assert!(n <= of, "{n}/{of}");
                prop_assert!(input.facts.next.is_some());
                prop_assert!(cap.is_none_or(|cap| row < cap));
            }
            prop_assert!(without <= max, "{} without progress", without);
            prop_assert!(unused <= no_progress, "{} without a tool", unused);
            prop_assert!(given <= absolute.saturating_sub(total.min(absolute)), "{} in all", given);
        }
    }
}

#[test]
fn a_model_that_never_progresses_is_stopped_after_three() {
    let mut input = super::open();
    let mut codes = Vec::new();
    for _ in 0..6 {
        codes.push(super::code(&input));
        let decision = decide(&input);
        let facts = input.facts.clone();
        input.counters.decided(&decision, &facts);
    }
    assert_eq!(codes, ["continue", "continue", "continue", "no_progress", "no_progress", "no_progress"]);
    input.counters.observe(&HostEvent::Prompted { by_person: false }, 5);
    assert_eq!(
        super::code(&input),
        "no_progress",
        "a continuation that comes back as a prompt does not count as the user"
    );
    input.counters.observe(&HostEvent::Prompted { by_person: true }, 5);
    assert_eq!(super::code(&input), "continue", "the user's message starts again");
}

#[test]
fn a_model_that_uses_tools_is_continued_until_the_limit_without_progress_and_every_text_shows_the_limit_that_counts() {
    let mut input = super::open();
    let mut story = Vec::new();
    for _ in 0..13 {
        let decision = decide(&input);
        story.push(match &decision {
            Decision::Continue { n, of, .. } => format!("{n}/{of}"),
            Decision::Allow { reason } => reason.code().to_owned(),
        });
        let facts = input.facts.clone();
        input.counters.decided(&decision, &facts);
        input.counters.observe(&HostEvent::ToolEnded { tool: tool(ToolKind::Edit) }, 1);
    }
    let idle = std::iter::repeat_n("1/3", 8);
    let expected: Vec<&str> = idle.chain(["9/10", "10/10"]).chain(["max_continuations"; 3]).collect();
    assert_eq!(story, expected);
}

#[test]
fn a_text_counts_by_the_limit_of_the_agent_and_by_that_of_an_untouched_turn_where_they_end_the_loop_first() {
    let first = |change: &dyn Fn(&mut DecisionInput)| {
        let mut input = super::open();
        change(&mut input);
        let decision = decide(&input);
        let Decision::Continue { n, of, text } = &decision else { panic!("{decision:?}") };
        assert!(text.contains(&format!("{n}/{of}")), "{text}");
        input.counters.decided(&decision, &input.facts.clone());
        assert_eq!(input.counters.latest(&input.policy), (*n, *of), "every surface says the same");
        (*n, *of)
    };
    let asked = |input: &mut DecisionInput| input.counters.observe(&HostEvent::Prompted { by_person: true }, 0);
    assert_eq!(first(&|_| {}), (1, 3));
    assert_eq!(first(&asked), (1, 1));
    let unobserved = |input: &mut DecisionInput| {
        asked(input);
        input.scene.unobserved = true;
    };
    assert_eq!(first(&unobserved), (1, 3));
    assert_eq!(first(&|input| input.scene.host_cap = Some(3)), (1, 2));
    assert_eq!(first(&|input| (input.counters.in_row, input.scene.host_cap) = (6, Some(8))), (7, 7));
    assert_eq!(first(&|input| input.scene.host_cap = Some(8)), (1, 3));
}

#[test]
fn a_turn_that_does_not_touch_the_plan_is_continued_once() {
    let story = |between: &[HostEvent]| {
        let mut input = super::open();
        input.counters.observe(&HostEvent::Prompted { by_person: true }, 0);
        let mut codes = Vec::new();
        for _ in 0..3 {
            codes.push(super::code(&input));
            let (decision, facts) = (decide(&input), input.facts.clone());
            input.counters.decided(&decision, &facts);
            between.iter().for_each(|event| input.counters.observe(event, 1));
        }
        codes
    };
    let ended = |kind, name: &str| HostEvent::ToolEnded { tool: ToolUse::new(name, kind) };
    let once = ["continue", "plan_untouched", "plan_untouched"];
    assert_eq!(story(&[]), once);
    assert_eq!(story(&[ended(ToolKind::Other, "Read"), ended(ToolKind::Ours, "mcp__punch__todo_read")]), once);
    assert_eq!(story(&[HostEvent::Prompted { by_person: false }]), once, "a continuation that comes back as a prompt");
    let goes_on = ["continue", "continue", "continue"];
    assert_eq!(story(&[ended(ToolKind::Ours, "mcp__punch__todo_write")]), goes_on);
    assert_eq!(story(&[ended(ToolKind::HostTodo, "TodoWrite")]), goes_on);
    let mut silent = Counters { total: 1, ..Counters::default() };
    silent.observe(&ended(ToolKind::Other, "Read"), 0);
    assert!(!silent.untouched, "where no message is ever reported nothing is known about turns");
}

#[test]
fn a_question_pauses_until_it_is_answered() {
    for answer in [
        HostEvent::Prompted { by_person: true },
        HostEvent::ToolStarting { tool: tool(ToolKind::Other) },
        HostEvent::ToolEnded { tool: tool(ToolKind::Question) },
    ] {
        let mut input = super::open();
        input.counters.observe(&HostEvent::Asked { text: String::new() }, 1);
        assert_eq!(super::code(&input), "asked");
        input.counters.observe(&answer, 2);
        assert_eq!(super::code(&input), "continue", "{answer:?}");
    }
}

#[test]
fn whoever_breaks_off_is_obeyed_until_they_speak() {
    let mut input = super::open();
    input.counters.observe(&HostEvent::Interrupted, 1);
    for event in [HostEvent::ToolEnded { tool: tool(ToolKind::Ours) }, HostEvent::Prompted { by_person: false }] {
        input.counters.observe(&event, 2);
        assert_eq!(super::code(&input), "interrupted");
    }
    input.counters.observe(&HostEvent::Prompted { by_person: true }, 3);
    assert_eq!(super::code(&input), "continue");
}

#[test]
fn failed_turns_count_until_something_succeeds() {
    let mut counters = Counters::default();
    let failed = HostEvent::TurnFailed { error: "overloaded".into() };
    for now in 0..5 {
        counters.observe(&failed, now * 1_000);
    }
    assert_eq!((counters.failures, counters.failed_at), (5, Some(4_000)));
    counters.observe(&failed, 4_000 + 5 * 60_000 + 1);
    assert_eq!(counters.failures, 1, "what is long ago is forgotten");
    counters.observe(&HostEvent::ToolEnded { tool: tool(ToolKind::Other) }, 400_000);
    assert_eq!((counters.failures, counters.failed_at), (0, None));
}

#[test]
fn a_host_that_announces_every_request_as_a_shortening_is_not_believed() {
    let mut counters = Counters::default();
    counters.observe(&HostEvent::Compacting, 1);
    assert!(!counters.compacts_loudly);
    counters.observe(&HostEvent::Compacting, 2);
    assert!(counters.compacts_loudly);
    let mut honest = Counters::default();
    for now in 0..4 {
        honest.observe(&HostEvent::Compacting, now);
        honest.observe(&HostEvent::SessionStarted { how: SessionStart::Compact }, now);
    }
    assert!(!honest.compacts_loudly && honest.compacting.is_none());
}

#[test]
fn turns_are_remembered_and_wound_back() {
    let mut counters = Counters::default();
    for n in 0..30u64 {
        counters.begin_turn(Some(&format!("m{n}")), n, n.cast_signed());
    }
    assert_eq!(counters.turns.len(), 20);
    let turn = |marker: &str| TurnBefore::Turn(marker.into());
    assert!(counters.is_unplaced("m29") && !counters.is_unplaced("m28"), "only the last one is looked at");
    let placed = |before: &TurnBefore| {
        let mut counters = counters.clone();
        let since = counters.place(before);
        assert!(!counters.is_unplaced("m29"), "once is enough");
        (since, counters.turns.len())
    };
    assert_eq!(placed(&turn("m28")), (None, 20), "nothing is missing");
    assert_eq!(placed(&turn("m20")), (Some(21), 12), "what the turns after it did is forgotten");
    assert_eq!(placed(&TurnBefore::Nothing), (Some(10), 1), "all of it");
    assert_eq!(placed(&turn("m3")), (None, 20), "too long ago");
    assert_eq!(placed(&TurnBefore::Unknown), (None, 20));
    let mut quiet = Counters::default();
    for marker in ["a", "b", "c"] {
        quiet.begin_turn(Some(marker), 7, 0);
    }
    assert_eq!(quiet.place(&turn("a")), None, "the plan did not change in between");
    assert_eq!(quiet.turns.len(), 2);
    assert_eq!(Counters::default().place(&TurnBefore::Nothing), None);
}
