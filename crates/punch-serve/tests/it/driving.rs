//! What keep-going and lists that are put back cost, counted with a real tokenizer, for ordinary and for hostile text.

use punch_core::drive::{
    Counters, Decision, DecisionInput, DecisionScene, Finish, HostEvent, KeepGoing, ListWords, NamedTodo, NextRun,
    PlanFacts, Unproven, decide, estimate, explain, offer, put_back,
};
use punch_core::reason::PlanReader;
use punch_core::{Evidence, Plan, Todo, Uid, Verify};

pub fn exact(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

/// Contents that tokenizers know well, and ones that they do not.
pub fn contents() -> Vec<String> {
    let ordinary = "Read the settings from the file, check them against the table and report every mistake at once";
    vec![
        ordinary.into(),
        ordinary.repeat(6),
        "日本語のテキストを書く".repeat(40),
        "𝄞𝔘𝔫𝔦𝔠𝔬𝔡𝔢".repeat(40),
        "👩‍👩‍👧‍👦🏳️‍🌈".repeat(40),
        "</todo><todo>&&&\"\"".repeat(30),
        "}{)(*&^%$#@!~`|\\".repeat(30),
        "q7Zx9Kp2".repeat(60),
        "ꙮ꧁꧂𒐫".repeat(60),
        "\u{1b}[31m\u{7}\u{200b}".repeat(60),
    ]
}

fn todo(n: u64, content: &str) -> Todo {
    let mut todo = Todo::blank(Uid(n));
    (todo.id, todo.content) = (format!("T-{n}"), content.to_owned());
    todo
}

#[test]
fn ten_continuations_cost_at_most_4000_tokens() {
    for content in contents() {
        let (mut counters, mut cost) = (Counters::default(), 0);
        for n in 1..=10 {
            let id = if n % 2 == 0 { format!("T-{n}") } else { content.chars().take(60).collect() };
            let next =
                Some(NamedTodo { id, content: content.clone(), running: false, again: true, ..NamedTodo::default() });
            let conflict = serde_json::json!({"id": content, "files": false});
            let conflicts =
                vec![serde_json::from_value(conflict.clone()).unwrap(), serde_json::from_value(conflict).unwrap()];
            let input = DecisionInput {
                facts: PlanFacts { revision: 1, open: 90_000, total: 100_000, next, conflicts, ..PlanFacts::default() },
                counters: counters.clone(),
                event: HostEvent::Stopping { finish: Finish::EndTurn, background: 0, kept_going: false },
                policy: KeepGoing { no_progress: 10, ..KeepGoing::default() },
                scene: DecisionScene { named: true, bound: true, ..DecisionScene::default() },
                now: 1,
            };
            let decision = decide(&input);
            counters.decided(&decision, &input.facts);
            let Decision::Continue { text, .. } = decision else { panic!("it continues") };
            cost += exact(&text);
        }
        assert!(cost <= 4_000, "{cost} tokens: {}", &content.chars().take(20).collect::<String>());
    }
}

#[test]
fn a_list_that_is_put_back_costs_at_most_600_tokens_or_1200() {
    for content in contents() {
        for (n, most) in [(1, 600), (20, 600), (21, 1_200), (120, 1_200)] {
            let todos: Vec<Todo> = (1..=n).map(|n| todo(n, &content)).collect();
            let (text, _) =
                put_back("main", PlanReader::new(&Plan::default(), 9), &todos, n, todos.first(), ListWords::ALL);
            assert!(exact(&text) <= most, "{n} todos, {} tokens: {text}", exact(&text));
        }
        let text = offer(&[("main".into(), 3, 9)], Some(&todo(1, &content)), ListWords::ALL);
        assert!(exact(&text) <= 180, "{}", exact(&text));
    }
}

#[test]
fn what_is_said_about_failed_checks_costs_at_most_650_tokens_however_hostile() {
    for content in contents() {
        let unproven: Vec<Unproven> = (1..=6)
            .map(|n| {
                let mut todo = todo(n, "Write it");
                todo.verify = Some(Verify::Shell(content.clone()));
                let text = Some(format!("{content}\n{content}\n{content}"));
                todo.evidence =
                    vec![Evidence { text, command: todo.verify.clone(), exit_code: Some(1), ..Evidence::default() }];
                Unproven::of(&todo, NextRun::Shell).unwrap()
            })
            .collect();
        let text = explain(&unproven);
        assert!(exact(&text) <= 650, "{} tokens: {text}", exact(&text));
    }
}

#[test]
fn the_estimate_is_not_below_the_count() {
    for content in contents() {
        let (estimated, counted) = (estimate(&content), exact(&content));
        assert!(estimated * 10 >= counted * 8, "{estimated} estimated, {counted} counted: {content}");
    }
}
