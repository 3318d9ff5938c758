//! Every state that few writes can reach, breadth first, with engine and model compared on every transition. A short
//! walk runs with the other tests; `cargo xtask exhaustive` goes deeper and through pairs of policy values.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use punch_testkit::ask::{ModelBatch, ModelFields, ModelHold, ModelNewTodo, ModelOp, TodoName};
use punch_testkit::model::Model;
use punch_testkit::rules::ModelRules;

use crate::pair::Pair;

const IDS: [&str; 4] = ["a", "b", "c", "d"];

/// How far one walk went.
#[derive(Default)]
struct Walk {
    states: usize,
    transitions: usize,
    refused: usize,
}

fn id(id: &str) -> TodoName {
    TodoName::Id(id.to_owned())
}

fn deps(list: &[&str]) -> ModelFields {
    ModelFields { deps: Some(list.iter().map(|dep| id(dep)).collect()), ..ModelFields::default() }
}

/// Every write over these ids.
fn writes(ids: &[&str]) -> Vec<ModelOp> {
    let mut out = Vec::new();
    for a in ids {
        let add = |fields| ModelOp::Add(ModelNewTodo { id: Some((*a).to_owned()), fields, ..ModelNewTodo::default() });
        out.push(add(ModelFields::default()));
        out.push(ModelOp::Edit(id(a), deps(&[])));
        out.push(ModelOp::Edit(id(a), ModelFields { priority: Some(1), ..ModelFields::default() }));
        for b in ids {
            out.push(ModelOp::Edit(id(a), deps(&[b])));
            if a < b {
                out.push(add(deps(&[b])));
            }
        }
        out.push(ModelOp::Start(id(a)));
        out.push(ModelOp::Claim(id(a), 2));
        out.push(ModelOp::Done(id(a), None, None));
        out.push(ModelOp::Vouch(id(a), true, false));
        out.push(ModelOp::Report(id(a), false, None));
        out.push(ModelOp::Drop(id(a)));
        out.push(ModelOp::Fail(id(a), String::new()));
        out.push(ModelOp::Reopen(id(a)));
        out.push(ModelOp::Hold(id(a), ModelHold { reason: "wait".to_owned(), until: None, parked: true }));
        out.push(ModelOp::Release(id(a)));
        out.push(ModelOp::Block(id(a)));
        out.push(ModelOp::Rm(id(a)));
    }
    out
}

/// What matters for the future: no times, nothing archived.
fn key(model: &Model) -> u64 {
    let mut state = model.state();
    state.removed.clear();
    for row in &mut state.rows {
        row.item.started = None;
        row.item.finished = None;
        row.item.lease = row.item.lease.map(|until| i64::from(until > model.now));
    }
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}

/// Walks from a plan with all ids, the second waiting for the first.
fn walk(rules: ModelRules, ids: &[&str], depth: usize) -> Walk {
    let mut pair = Pair::new();
    let add = |(n, a): (usize, &&str)| {
        let fields = if n == 1 { deps(&[ids[0]]) } else { ModelFields::default() };
        ModelOp::Add(ModelNewTodo { id: Some((*a).to_owned()), fields, ..ModelNewTodo::default() })
    };
    let mut asks = vec![ModelOp::Rules(rules)];
    asks.extend(ids.iter().enumerate().map(add));
    pair.run(&ModelBatch { asks, owner: None, rules, elapsed: 1 }).unwrap().unwrap();
    let writes = writes(ids);
    let mut seen = HashSet::from([key(&pair.model)]);
    let mut frontier = vec![pair];
    let mut walk = Walk::default();
    for level in 0..depth {
        let mut next = Vec::new();
        for pair in frontier {
            for ask in &writes {
                let batch = ModelBatch { asks: vec![ask.clone()], owner: None, rules, elapsed: 1 };
                let mut after = pair.clone();
                let done =
                    after.run(&batch).unwrap_or_else(|what| panic!("{what}\n{batch:#?}\nafter {:#?}", pair.model));
                walk.transitions += 1;
                walk.refused += usize::from(done.is_err());
                if done.is_ok() && seen.insert(key(&after.model)) && level + 1 < depth {
                    after.log.clear();
                    next.push(after);
                }
            }
        }
        frontier = next;
    }
    walk.states = seen.len();
    walk
}

fn exhaustive() -> bool {
    std::env::var_os("PUNCH_EXHAUSTIVE").is_some()
}

#[test]
fn every_state_within_three_writes_on_three_todos_is_right_in_every_preset() {
    for (name, rules) in ModelRules::PRESETS {
        let walk = walk(rules, &IDS[..3], 3);
        println!("{name}: {} states, {} transitions, {} refused", walk.states, walk.transitions, walk.refused);
        assert!(walk.states > 300 && walk.refused > 0, "{name}");
    }
}

#[test]
fn deeper_states_are_right_in_every_preset() {
    if !exhaustive() {
        return;
    }
    for (count, depth) in [(3, 5), (4, 4)] {
        for (name, rules) in ModelRules::PRESETS {
            let walk = walk(rules, &IDS[..count], depth);
            println!(
                "{name}, {count} todos, depth {depth}: {} states, {} transitions, {} refused",
                walk.states, walk.transitions, walk.refused
            );
        }
    }
}

#[test]
fn every_pair_of_policy_values_is_right() {
    if !exhaustive() {
        return;
    }
    let mut done = HashSet::new();
    let mut total = Walk::default();
    for first in 0..ModelRules::SIZES.len() {
        for second in first + 1..ModelRules::SIZES.len() {
            for (a, b) in
                (0..ModelRules::SIZES[first]).flat_map(|a| (0..ModelRules::SIZES[second]).map(move |b| (a, b)))
            {
                let mut digits = [0; 9];
                digits[first] = a;
                digits[second] = b;
                if done.insert(digits) {
                    let walk = walk(ModelRules::from_digits(digits), &IDS[..3], 3);
                    total.states += walk.states;
                    total.transitions += walk.transitions;
                    total.refused += walk.refused;
                }
            }
        }
    }
    println!(
        "{} policies in pairs: {} states, {} transitions, {} refused",
        done.len(),
        total.states,
        total.transitions,
        total.refused
    );
}
