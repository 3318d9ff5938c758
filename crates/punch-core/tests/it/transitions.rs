//! The transition table of docs/rules.md: it is complete, every word in it is explained, and `apply` does what each row says.

use std::collections::BTreeSet;

use punch_core::{DepOnRunning, InProgressLimit, MissingEvidence, StartGate, VerifyMode};
use punch_testkit::ask::{
    ModelBatch, ModelEvidence, ModelFields, ModelHold, ModelNewTodo, ModelOp, ModelStatus, TodoName,
};
use punch_testkit::model::table::{Condition, TABLE, TransitionRow};
use punch_testkit::rules::{CancelledRule, Gate, ModelRules, ProofRule};
use serde::Serialize;

use crate::pair::Pair;

/// The names of a policy's values, as settings and plans have them.
fn values(policy: &str) -> Vec<String> {
    fn words<T: Serialize>(all: &[T]) -> Vec<String> {
        all.iter().map(|value| serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()).collect()
    }
    match policy {
        "start_gate" => words(StartGate::ALL),
        "in_progress" => words(InProgressLimit::ALL),
        "dep_on_running" => words(DepOnRunning::ALL),
        "verify" => words(VerifyMode::ALL),
        "missing_evidence" => words(MissingEvidence::ALL),
        other => panic!("docs/rules.md: no policy `{other}`"),
    }
}

/// The names and values of all conditions that these rows mention.
fn questions(rows: &[&TransitionRow]) -> Vec<(&'static str, Vec<String>)> {
    let mut out: Vec<(&str, Vec<String>)> = Vec::new();
    for condition in rows.iter().flat_map(|row| &row.conditions) {
        let (name, values) = match condition {
            Condition::Fact(name, _) => (*name, vec!["yes".to_owned(), "no".to_owned()]),
            Condition::Policy(name, given) => {
                let known = values(name);
                given.iter().for_each(|value| assert!(known.iter().any(|k| k == value), "{name}={value}"));
                (*name, known)
            }
        };
        if !out.iter().any(|(known, _)| *known == name) {
            out.push((name, values));
        }
    }
    out
}

/// Every combination of one value for each question.
fn combinations(questions: &[(&'static str, Vec<String>)]) -> Vec<Vec<(&'static str, String)>> {
    questions.iter().fold(vec![Vec::new()], |before, (name, values)| {
        let with = |base: &Vec<(&'static str, String)>, value: &String| {
            base.iter().cloned().chain([(*name, value.clone())]).collect()
        };
        before.iter().flat_map(|base| values.iter().map(move |value| with(base, value))).collect()
    })
}

#[test]
fn exactly_one_row_applies_to_every_op_status_and_policy() {
    for table in [&TABLE.ops, &TABLE.checks] {
        let names: BTreeSet<&str> = table.iter().map(|row| row.name).collect();
        assert!(names.len() > 7, "{names:?}");
        for name in names {
            let rows: Vec<&TransitionRow> = table.iter().filter(|row| row.name == name).collect();
            // What no op asks for happens only in the statuses that its rows name.
            let statuses = ModelStatus::ALL
                .into_iter()
                .filter(|s| !name.starts_with('(') || rows.iter().any(|row| row.statuses.contains(s)));
            for (status, case) in
                statuses.flat_map(|status| combinations(&questions(&rows)).into_iter().map(move |case| (status, case)))
            {
                let value = |name: &str| case.iter().find(|(known, _)| *known == name).unwrap().1.clone();
                let applies = |row: &&&TransitionRow| {
                    row.statuses.contains(&status)
                        && row.conditions.iter().all(|condition| match condition {
                            Condition::Fact(name, holds) => (value(name) == "yes") == *holds,
                            Condition::Policy(name, values) => values.contains(&value(name).as_str()),
                        })
                };
                let found = rows.iter().filter(applies).count();
                assert_eq!(found, 1, "docs/rules.md: rows of `{name}` for {status:?} with {case:?}");
            }
        }
    }
}

#[test]
fn every_op_has_rows_and_every_word_is_explained_and_used() {
    let ops: BTreeSet<&str> = TABLE.ops.iter().map(|row| row.name).filter(|name| !name.starts_with('(')).collect();
    let asked: BTreeSet<&str> = asks(0).iter().filter_map(ModelOp::op).collect();
    assert_eq!(ops, asked, "a new op gets its rows in docs/rules.md and its calls in this test");
    let facts = TABLE.ops.iter().chain(&TABLE.checks).flat_map(|row| &row.conditions);
    let facts = facts.filter_map(|c| if let Condition::Fact(name, _) = c { Some(*name) } else { None });
    let used: BTreeSet<&str> = facts.chain(TABLE.ops.iter().flat_map(|row| row.effects.iter().copied())).collect();
    assert_eq!(used, TABLE.explained.iter().copied().collect());
    let checks: BTreeSet<&str> = TABLE.ops.iter().flat_map(|row| row.checks.iter().copied()).collect();
    assert_eq!(checks, TABLE.checks.iter().map(|row| row.name).collect());
}

const T: usize = 2;

fn t() -> TodoName {
    TodoName::Key(T)
}

fn says() -> ModelEvidence {
    ModelEvidence { says: true, ..ModelEvidence::default() }
}

fn ran(command: &str, exit: i32) -> ModelEvidence {
    ModelEvidence { command: Some(command.to_owned()), exit: Some(exit), says: false }
}

fn hold(until: Option<i64>) -> ModelHold {
    ModelHold { reason: "wait".to_owned(), until, parked: until.is_none() }
}

fn deps(on: &[usize]) -> ModelFields {
    ModelFields { deps: Some(on.iter().map(|key| TodoName::Key(*key)).collect()), ..ModelFields::default() }
}

/// Everything that can be asked of the todo, in every way that the table tells apart.
fn asks(now: i64) -> Vec<ModelOp> {
    let mut out = vec![
        ModelOp::Start(t()),
        ModelOp::Claim(t(), now + 30),
        ModelOp::Renew(t(), now + 90),
        ModelOp::Renew(t(), now + 3),
        ModelOp::Unclaim(t()),
        ModelOp::HandOver(t(), "cat".to_owned()),
        ModelOp::Drop(t()),
        ModelOp::Fail(t(), "why".to_owned()),
        ModelOp::Reopen(t()),
        ModelOp::Hold(t(), hold(None)),
        ModelOp::Release(t()),
        ModelOp::Block(t()),
        ModelOp::Rm(t()),
        ModelOp::Note(t(), "a note".to_owned()),
        ModelOp::Move(t(), punch_testkit::ask::ListSpot::First),
        ModelOp::Edit(t(), deps(&[0, 1])),
        ModelOp::Restore(t(), ModelStatus::Pending, Some(hold(None)), true),
    ];
    for evidence in [None, Some(says()), Some(ran("run", 0)), Some(ran("run", 1)), Some(ran("other", 0))] {
        out.push(ModelOp::Done(t(), evidence.clone(), None));
        out.extend(evidence.clone().map(|found| ModelOp::Check(t(), found)));
        out.extend(evidence.map(|found| ModelOp::Refute(t(), found)));
    }
    out.push(ModelOp::Done(t(), Some(says()), Some(99)));
    out.extend([(true, None), (false, None), (true, Some(99))].map(|(says, fence)| ModelOp::Report(t(), says, fence)));
    out.extend([(true, true), (true, false), (false, false)].map(|(stale, passed)| ModelOp::Vouch(t(), stale, passed)));
    for status in ModelStatus::ALL {
        out.push(ModelOp::Restore(t(), status, None, false));
        for (fields, hold) in [(deps(&[0]), None), (deps(&[]), None), (deps(&[]), Some(hold(None)))] {
            out.push(ModelOp::Add(ModelNewTodo { fields, status, hold, ..ModelNewTodo::default() }));
        }
    }
    out
}

/// One write that came before: who asked, what, and after how long.
type Earlier = (Option<&'static str>, ModelOp, i64);

/// The ways in which the todo got to where it is: the status it was added with, and what happened then.
fn pasts() -> Vec<(ModelStatus, Vec<Earlier>)> {
    let agent = |ask: ModelOp| (Some("ann"), ask, 1);
    let user = |ask: ModelOp| (None, ask, 1);
    let started = || agent(ModelOp::Start(t()));
    let failed = || agent(ModelOp::Fail(t(), String::new()));
    let pasts = vec![
        vec![],
        vec![user(ModelOp::Hold(t(), hold(None)))],
        vec![user(ModelOp::Hold(t(), hold(Some(5)))), (None, ModelOp::Note(TodoName::Key(0), String::new()), 40)],
        vec![user(ModelOp::Start(t()))],
        vec![started()],
        vec![started(), (None, ModelOp::Note(TodoName::Key(0), String::new()), 60)],
        vec![started(), agent(ModelOp::Report(t(), true, None))],
        vec![
            started(),
            agent(ModelOp::Report(t(), true, None)),
            (None, ModelOp::Note(TodoName::Key(0), String::new()), 60),
        ],
        // The lease of a todo that depends on it runs out.
        vec![agent(ModelOp::Start(TodoName::Key(3))), (None, ModelOp::Note(TodoName::Key(0), String::new()), 60)],
        vec![started(), failed()],
        vec![started(), failed(), started()],
        vec![started(), failed(), started(), failed()],
        vec![user(ModelOp::Done(t(), None, None))],
        vec![started(), agent(ModelOp::Done(t(), Some(says()), None)), user(ModelOp::Vouch(t(), true, false))],
        vec![user(ModelOp::Drop(t()))],
        // Another todo is built on it, which is marked when it is opened again.
        vec![user(ModelOp::Done(t(), None, None)), agent(ModelOp::Start(TodoName::Key(3)))],
        vec![user(ModelOp::Done(t(), None, None)), agent(ModelOp::Start(TodoName::Key(3))), user(ModelOp::Reopen(t()))],
        vec![user(ModelOp::Drop(t())), agent(ModelOp::Start(TodoName::Key(3)))],
        vec![started(), agent(ModelOp::Check(t(), ran("run", 1)))],
    ];
    // What the user adds in progress is not claimed.
    pasts.into_iter().map(|past| (ModelStatus::Pending, past)).chain([(ModelStatus::Active, Vec::new())]).collect()
}

/// A plan before the op, and what of it decides which ops are worth asking.
struct Situation {
    pair: Pair,
    /// Nothing happened to the todo yet.
    new: bool,
    /// Each actor has another todo in progress.
    busy: bool,
}

impl Situation {
    /// The plan's own choice matters to ops that close or open a todo, a second todo in progress to those that start one,
    /// and nothing of what happened to the todo to one that is added.
    fn is_worth(&self, ask: &ModelOp, cancelled: CancelledRule) -> bool {
        let closes =
            matches!(ask, ModelOp::Drop(_) | ModelOp::Fail(..) | ModelOp::Reopen(_) | ModelOp::Done(_, None, None));
        let starts = matches!(ask, ModelOp::Start(_) | ModelOp::Claim(..) | ModelOp::Add(_));
        let adds = matches!(ask, ModelOp::Add(_));
        (cancelled == CancelledRule::Block || closes) && (!self.busy || starts) && (!adds || self.new)
    }
}

/// Plans with a todo in every situation, with one that it may wait for before it and one that waits for it behind.
fn situations(cancelled: CancelledRule) -> Vec<Situation> {
    let mut out = Vec::new();
    let each =
        [(false, false, false), (true, false, false), (false, true, false), (true, true, false), (false, false, true)];
    let each = each.map(|(command, waiting, busy)| (command, waiting, busy, ProofRule::Claim));
    let each: Vec<_> = each.into_iter().chain([(false, false, false, ProofRule::Command)]).collect();
    for ((status, past), (command, waiting, busy, proof)) in
        pasts().into_iter().flat_map(|past| each.iter().map(move |each| (past.clone(), *each)))
    {
        let new = past.is_empty();
        let mut pair = Pair::new();
        let rules = ModelRules { gate: Gate::Warn, one: false, cancelled, proof, ..ModelRules::NATIVE };
        let mut run = |owner: Option<&str>, asks: Vec<ModelOp>, elapsed| {
            let batch = ModelBatch { asks, owner: owner.map(str::to_owned), rules, elapsed };
            pair.run(&batch).unwrap().unwrap();
        };
        let add = |fields| ModelOp::Add(ModelNewTodo { fields, ..ModelNewTodo::default() });
        let subject = |fields| ModelOp::Add(ModelNewTodo { fields, status, ..ModelNewTodo::default() });
        let command = command.then(|| Some("run".to_owned()));
        // What runs beside it touches its files; in one situation it says nothing.
        let files = busy.then(|| Some("src".to_owned()));
        let content = (proof != ProofRule::Command).then(|| "x".to_owned());
        let second = ModelFields { files: files.clone(), ..deps(&[]) };
        let subject = subject(ModelFields { command, files, content, ..deps(if waiting { &[0] } else { &[] }) });
        run(
            None,
            vec![ModelOp::Rules(rules), add(deps(&[])), add(second), subject, add(deps(&[T])), add(deps(&[3]))],
            1,
        );
        for (owner, ask, elapsed) in past {
            run(owner, vec![ask], elapsed);
        }
        if busy {
            run(None, vec![ModelOp::Start(TodoName::Key(1))], 1);
            run(None, vec![add(deps(&[]))], 1);
            run(Some("ann"), vec![ModelOp::Start(TodoName::Key(5))], 1);
        }
        out.push(Situation { pair, new, busy });
    }
    out
}

/// The policies that the rows of an op and of its checks ask about, each with every value.
fn policies(ask: &ModelOp) -> Vec<ModelRules> {
    let named = |names: &[&str]| -> Vec<&TransitionRow> {
        TABLE.ops.iter().chain(&TABLE.checks).filter(|row| names.contains(&row.name)).collect()
    };
    let mut names = vec![ask.op().unwrap()];
    if matches!(ask, ModelOp::Edit(..)) {
        names.push("(dependency added)");
    }
    for row in named(&names.clone()) {
        names.extend(&row.checks);
        names.extend(row.then.strip_prefix("as "));
    }
    for row in named(&names.clone()) {
        names.extend(&row.checks);
    }
    let asked: Vec<_> = questions(&named(&names)).into_iter().filter(|(_, values)| values[0] != "yes").collect();
    combinations(&asked)
        .into_iter()
        .map(|case| {
            case.into_iter().fold(ModelRules::NATIVE, |mut rules, (policy, value)| {
                match (policy, value.as_str()) {
                    ("start_gate", value) => {
                        let gates = [("strict", Gate::Strict), ("at_end", Gate::AtEnd), ("warn", Gate::Warn)];
                        rules.gate = gates.into_iter().find(|(name, _)| *name == value).unwrap().1;
                    }
                    ("verify", value) => {
                        let modes = [
                            ("trust", ProofRule::Trust),
                            ("claim", ProofRule::Claim),
                            ("evidence", ProofRule::Evidence),
                            ("command", ProofRule::Command),
                        ];
                        rules.proof = modes.into_iter().find(|(name, _)| *name == value).unwrap().1;
                    }
                    ("in_progress", value) => rules.one = value == "one",
                    ("dep_on_running", value) => rules.demote = value == "demote",
                    ("missing_evidence", value) => rules.words = value == "refuse",
                    (other, _) => panic!("no policy `{other}`"),
                }
                rules
            })
        })
        .collect()
}

#[test]
fn apply_does_what_each_row_says() {
    let mut reached = BTreeSet::new();
    let mut calls = 0;
    for cancelled in [CancelledRule::Block, CancelledRule::Satisfy, CancelledRule::Cascade] {
        for situation in situations(cancelled) {
            let pair = &situation.pair;
            for ask in asks(pair.model.now).into_iter().filter(|ask| situation.is_worth(ask, cancelled)) {
                for (rules, owner) in policies(&ask)
                    .into_iter()
                    .flat_map(|rules| [None, Some("ann"), Some("bob")].map(|owner| (rules, owner.map(str::to_owned))))
                {
                    // What is said to be blocked is judged after the other ops of its batch.
                    let more: &[Option<ModelOp>] = match ask {
                        ModelOp::Block(_) => &[None, Some(ModelOp::Start(t())), Some(ModelOp::Drop(t()))],
                        _ => &[None],
                    };
                    for second in more {
                        let asks = [Some(ask.clone()), second.clone()].into_iter().flatten().collect();
                        let batch = ModelBatch {
                            asks,
                            owner: owner.clone(),
                            rules: ModelRules { cancelled, ..rules },
                            elapsed: 1,
                        };
                        reached.extend(pair.model.clone().apply_with_trace(&batch).1.rows);
                        calls += 1;
                        if let Err(what) = pair.clone().run(&batch) {
                            panic!("{what}\n{batch:#?}\non {:#?}", pair.model);
                        }
                    }
                }
            }
        }
    }
    println!("{calls} calls");
    let rows: Vec<&TransitionRow> = TABLE.ops.iter().chain(&TABLE.checks).collect();
    let missed: Vec<&&TransitionRow> =
        rows.iter().enumerate().filter(|(n, _)| !reached.contains(n)).map(|(_, row)| row).collect();
    assert!(missed.is_empty(), "no call reaches {missed:#?}");
}
