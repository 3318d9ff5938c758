//! A plan of 20 todos worked to the end: by ops, and by sending the whole list every time.

use punch_engine::call::{Dialect, Tool, ToolCaller};
use punch_engine::{Engine, PlanChoice};
use punch_store::{MemoryStore, SessionKey};
use serde_json::{Value, json};

use crate::{Report, tokens};

const TODOS: usize = 20;

const WORK: [&str; 5] = [
    "Add a parser for the new configuration format",
    "Write tests for edge cases of the scheduler",
    "Move the retry logic into its own module",
    "Update the reference of the command line",
    "Measure start-up time before and after",
];

fn content(n: usize) -> String {
    format!("{} ({})", WORK[n % WORK.len()], n + 1)
}

pub fn run(report: &mut Report) {
    let native = spend(Dialect::Native, &native());
    let whole = spend(Dialect::Todowrite, &whole());
    println!("a 20-todo plan to its end: {native} tokens by ops, {whole} by full replacement");
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    report.row("ops against full replacement, tokens", native as f64 / whole as f64, 1.0 / 3.0, "");
}

fn native() -> Vec<Value> {
    let add = |n: usize| json!({"op": "add", "content": content(n)});
    let mut ops: Vec<Value> = (0..TODOS).map(add).collect();
    ops.push(json!({"op": "start", "id": "T-1"}));
    let mut calls = vec![json!({"ops": ops})];
    for n in 1..=TODOS {
        let mut ops = vec![json!({"op": "done", "id": format!("T-{n}")})];
        if n < TODOS {
            ops.push(json!({"op": "start", "id": format!("T-{}", n + 1)}));
        }
        calls.push(json!({"ops": ops}));
    }
    calls
}

fn whole() -> Vec<Value> {
    let call = |done: usize| -> Value {
        let todo = |n: usize| {
            let status = match n.cmp(&done) {
                std::cmp::Ordering::Less => "completed",
                std::cmp::Ordering::Equal => "in_progress",
                std::cmp::Ordering::Greater => "pending",
            };
            json!({"content": content(n), "status": status, "activeForm": content(n)})
        };
        json!({"todos": (0..TODOS).map(todo).collect::<Vec<_>>()})
    };
    (0..=TODOS).map(call).collect()
}

fn spend(dialect: Dialect, calls: &[Value]) -> usize {
    let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(|| 0));
    let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
    let caller = ToolCaller {
        session: SessionKey::new("bench", None),
        actor: punch_core::Actor::agent("bench", "bench"),
        role: None,
        mode: Default::default(),
        limits: Default::default(),
        open_limit: 10_000,
        settings: None,
        structured: false,
        work: Default::default(),
        server: None,
        embedding: Default::default(),
    };
    let mut spent = 0;
    for call in calls {
        let answer = engine.call(plan, &caller, dialect, Tool::Write, call, None).unwrap();
        assert!(!answer.is_error, "{}", answer.text);
        spent += tokens(&call.to_string()) + tokens(&format!("{}\nrev {}", answer.text, answer.revision));
    }
    spent
}
