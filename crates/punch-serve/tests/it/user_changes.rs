//! What it costs an agent to learn of the user's changes, counted with a real tokenizer, in every dialect and for text
//! that tokenizers do not know.

use punch_core::drive::{HostEvent, ToolKind, ToolUse};
use punch_core::{Add, Edit, Hold, HoldKind, Keep, Op, Ref};
use punch_engine::call::{Dialect, Tool, ToolCaller};
use punch_engine::config::{Config, ConfigInputs};
use punch_engine::{Engine, HostReport, PlanChoice, WriteRequest};
use punch_store::{MemoryStore, SessionKey};
use serde_json::{Value, json};

use crate::driving::{contents, exact};

/// Words without any meaning, from a small generator of numbers.
fn gibberish(letters: &str, seed: u64) -> String {
    let letters: Vec<char> = letters.chars().collect();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap()
    };
    (0..400).map(|_| letters[next() % letters.len()]).collect()
}

fn texts() -> Vec<String> {
    let lower = "abcdefghijklmnopqrstuvwxyz";
    let alphabets =
        [lower, "qxzjvkw", "QXZJVKWqxzjvkw", "qxzj vkw ", "aA0 -", "zxQ.,;:'/", "ßüœøđ ", "жщъыэ ", "0123456789"];
    let words = alphabets.iter().flat_map(|letters| (1..6).map(|seed| gibberish(letters, seed)));
    contents().into_iter().chain(words).collect()
}

fn call(dialect: Dialect, names: &[&str]) -> Value {
    let row =
        |name: &&str| json!({"id": name, "content": name, "title": name, "status": "pending", "activeForm": name});
    let rows: Vec<Value> = names.iter().map(row).collect();
    match dialect {
        Dialect::Native => json!({"ops": names.iter().map(|n| json!({"op": "add", "content": n})).collect::<Vec<_>>()}),
        Dialect::Phases => json!({"ops": [{"op": "append", "phase": "P", "items": names}]}),
        Dialect::Cursor => json!({"merge": true, "todos": rows}),
        Dialect::Todowrite => json!({"todos": rows}),
        Dialect::Extended => json!({"mode": "patch", "todos": rows}),
    }
}

fn after_tool() -> HostReport {
    HostReport {
        agent: "agent".into(),
        key: SessionKey::new("s", None),
        choice: PlanChoice::default(),
        event: HostEvent::ToolEnded { tool: ToolUse::new("Read", ToolKind::default()) },
        context: None,
        host_cap: None,
        turn: None,
        tree: None,
        earlier: Default::default(),
        by_runner: false,
        upcoming: None,
        checks: Default::default(),
        agent_process: || None,
    }
}

#[test]
fn a_change_of_the_user_costs_an_agent_at_most_60_tokens() {
    let settings = Config::load(&ConfigInputs::default()).unwrap().settings;
    for (n, text) in texts().into_iter().enumerate() {
        for dialect in Dialect::ALL {
            let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(|| 1));
            let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
            let caller = ToolCaller::under(&settings, SessionKey::new("s", None), "agent".into());
            let name: String = text.chars().filter(|c| !c.is_control()).take(30).collect();
            let list = call(dialect, &[name.trim(), "two", "three"]);
            let answer = engine.call(plan, &caller, dialect, Tool::Write, &list, None).unwrap();
            assert!(!answer.is_error, "{answer:?}");
            let of = |at: usize| Ref::Uid(engine.whole(plan).unwrap().live()[at].uid);
            let user = |ops: &[Op]| drop(engine.submit(plan, &WriteRequest::by("user", None), ops).unwrap());
            let content = || Keep::Set(text.chars().take(300).collect());
            let hold = Hold { kind: HoldKind::Other, reason: text.clone(), until: None, by: String::new(), at: 0 };
            let add = || Op::Add(Add { edit: Edit { content: content(), ..Edit::default() }, ..Add::default() });
            let changes: [Vec<Op>; 6] = [
                vec![Op::Note(of(0), text.clone())],
                vec![Op::Edit(of(1), Edit { content: content(), priority: Keep::Set(1), ..Edit::default() })],
                vec![Op::Hold(of(1), hold.clone())],
                vec![add()],
                vec![add(), Op::Rm(of(2)), Op::Note(of(1), text.clone()), Op::Hold(of(0), hold)],
                (0..n % 12 + 1).map(|_| add()).collect(),
            ];
            for ops in changes {
                user(&ops);
                let said = engine.observe(&after_tool(), &settings).unwrap().context;
                let said = said.unwrap_or_else(|| panic!("{dialect:?} {ops:?}"));
                assert!(said.starts_with("The user changed the plan"), "{said}");
                assert!(exact(&format!("{said}\n")) <= 60, "{} tokens, {dialect:?}: {said}", exact(&said));
            }
        }
    }
}
