//! The transition table of docs/rules.md: it is complete, every word in it is explained, and `apply` does what each row says.

use std::collections::BTreeSet;

use punch_core::{DepOnRunning, InProgressLimit, MissingEvidence, StartGate, VerifyMode};
use punch_testkit::ask::{Ask, Batch, Evidence, Fields, Hold, Name, New, Status};
use punch_testkit::model::table::{Condition, Row, TABLE};
use punch_testkit::rules::{Cancelled, Gate, Proof, Rules};
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
fn questions(rows: &[&Row]) -> Vec<(&'static str, Vec<String>)> {
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
            let rows: Vec<&Row> = table.iter().filter(|row| row.name == name).collect();
            // What no op asks for happens only in the statuses that its rows name.
            let statuses = Status::ALL
                .into_iter()
                .filter(|s| !name.starts_with('(') || rows.iter().any(|row| row.statuses.contains(s)));
            for (status, case) in
                statuses.flat_map(|status| combinations(&questions(&rows)).into_iter().map(move |case| (status, case)))
            {
                let value = |name: &str| case.iter().find(|(known, _)| *known == name).unwrap().1.clone();
                let applies = |row: &&&Row| {
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
    let asked: BTreeSet<&str> = asks(0).iter().filter_map(Ask::op).collect();
    assert_eq!(ops, asked, "a new op gets its rows in docs/rules.md and its calls in this test");
    let facts = TABLE.ops.iter().chain(&TABLE.checks).flat_map(|row| &row.conditions);
    let facts = facts.filter_map(|c| if let Condition::Fact(name, _) = c { Some(*name) } else { None });
    let used: BTreeSet<&str> = facts.chain(TABLE.ops.iter().flat_map(|row| row.effects.iter().copied())).collect();
    assert_eq!(used, TABLE.explained.iter().copied().collect());
    let checks: BTreeSet<&str> = TABLE.ops.iter().flat_map(|row| row.checks.iter().copied()).collect();
    assert_eq!(checks, TABLE.checks.iter().map(|row| row.name).collect());
}

const T: usize = 2;

fn t() -> Name {
    Name::Key(T)
}

fn says() -> Evidence {
    Evidence { says: true, ..Evidence::default() }
}

fn ran(command: &str, exit: i32) -> Evidence {
    Evidence { command: Some(command.to_owned()), exit: Some(exit), says: false }
}

fn hold(until: Option<i64>) -> Hold {
    Hold { reason: "wait".to_owned(), until, parked: until.is_none() }
}

fn deps(on: &[usize]) -> Fields {
    Fields { deps: Some(on.iter().map(|key| Name::Key(*key)).collect()), ..Fields::default() }
}

/// Everything that can be asked of the todo, in every way that the table tells apart.
fn asks(now: i64) -> Vec<Ask> {
    let mut out = vec![
        Ask::Start(t()),
        Ask::Claim(t(), now + 30),
        Ask::Renew(t(), now + 90),
        Ask::Renew(t(), now + 3),
        Ask::Unclaim(t()),
        Ask::HandOver(t(), "cat".to_owned()),
        Ask::Drop(t()),
        Ask::Fail(t(), "why".to_owned()),
        Ask::Reopen(t()),
        Ask::Hold(t(), hold(None)),
        Ask::Release(t()),
        Ask::Block(t()),
        Ask::Rm(t()),
        Ask::Note(t(), "a note".to_owned()),
        Ask::Move(t(), punch_testkit::ask::Spot::First),
        Ask::Edit(t(), deps(&[0, 1])),
        Ask::Restore(t(), Status::Pending, Some(hold(None)), true),
    ];
    for evidence in [None, Some(says()), Some(ran("run", 0)), Some(ran("run", 1)), Some(ran("other", 0))] {
        out.push(Ask::Done(t(), evidence.clone(), None));
        out.extend(evidence.clone().map(|found| Ask::Check(t(), found)));
        out.extend(evidence.map(|found| Ask::Refute(t(), found)));
    }
    out.push(Ask::Done(t(), Some(says()), Some(99)));
    out.extend([(true, None), (false, None), (true, Some(99))].map(|(says, fence)| Ask::Report(t(), says, fence)));
    out.extend([(true, true), (true, false), (false, false)].map(|(stale, passed)| Ask::Vouch(t(), stale, passed)));
    for status in Status::ALL {
        out.push(Ask::Restore(t(), status, None, false));
        for (fields, hold) in [(deps(&[0]), None), (deps(&[]), None), (deps(&[]), Some(hold(None)))] {
            out.push(Ask::Add(New { fields, status, hold, ..New::default() }));
        }
    }
    out
}

/// One write that came before: who asked, what, and after how long.
type Earlier = (Option<&'static str>, Ask, i64);

/// The ways in which the todo got to where it is: the status it was added with, and what happened then.
fn pasts() -> Vec<(Status, Vec<Earlier>)> {
    let agent = |ask: Ask| (Some("ann"), ask, 1);
    let user = |ask: Ask| (None, ask, 1);
    let started = || agent(Ask::Start(t()));
    let failed = || agent(Ask::Fail(t(), String::new()));
    let pasts = vec![
        vec![],
        vec![user(Ask::Hold(t(), hold(None)))],
        vec![user(Ask::Hold(t(), hold(Some(5)))), (None, Ask::Note(Name::Key(0), String::new()), 40)],
        vec![user(Ask::Start(t()))],
        vec![started()],
        vec![started(), (None, Ask::Note(Name::Key(0), String::new()), 60)],
        vec![started(), agent(Ask::Report(t(), true, None))],
        vec![started(), agent(Ask::Report(t(), true, None)), (None, Ask::Note(Name::Key(0), String::new()), 60)],
        // The lease of a todo that depends on it runs out.
        vec![agent(Ask::Start(Name::Key(3))), (None, Ask::Note(Name::Key(0), String::new()), 60)],
        vec![started(), failed()],
        vec![started(), failed(), started()],
        vec![started(), failed(), started(), failed()],
        vec![user(Ask::Done(t(), None, None))],
        vec![started(), agent(Ask::Done(t(), Some(says()), None)), user(Ask::Vouch(t(), true, false))],
        vec![user(Ask::Drop(t()))],
        // Another todo is built on it, which is marked when it is opened again.
        vec![user(Ask::Done(t(), None, None)), agent(Ask::Start(Name::Key(3)))],
        vec![user(Ask::Done(t(), None, None)), agent(Ask::Start(Name::Key(3))), user(Ask::Reopen(t()))],
        vec![user(Ask::Drop(t())), agent(Ask::Start(Name::Key(3)))],
        vec![started(), agent(Ask::Check(t(), ran("run", 1)))],
    ];
    // What the user adds in progress is not claimed.
    pasts.into_iter().map(|past| (Status::Pending, past)).chain([(Status::Active, Vec::new())]).collect()
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
    fn is_worth(&self, ask: &Ask, cancelled: Cancelled) -> bool {
        let closes = matches!(ask, Ask::Drop(_) | Ask::Fail(..) | Ask::Reopen(_) | Ask::Done(_, None, None));
        let starts = matches!(ask, Ask::Start(_) | Ask::Claim(..) | Ask::Add(_));
        let adds = matches!(ask, Ask::Add(_));
        (cancelled == Cancelled::Block || closes) && (!self.busy || starts) && (!adds || self.new)
    }
}

/// Plans with a todo in every situation, with one that it may wait for before it and one that waits for it behind.
fn situations(cancelled: Cancelled) -> Vec<Situation> {
    let mut out = Vec::new();
    let each =
        [(false, false, false), (true, false, false), (false, true, false), (true, true, false), (false, false, true)];
    let each = each.map(|(command, waiting, busy)| (command, waiting, busy, Proof::Claim));
    let each: Vec<_> = each.into_iter().chain([(false, false, false, Proof::Command)]).collect();
    for ((status, past), (command, waiting, busy, proof)) in
        pasts().into_iter().flat_map(|past| each.iter().map(move |each| (past.clone(), *each)))
    {
        let new = past.is_empty();
        let mut pair = Pair::new();
        let rules = Rules { gate: Gate::Warn, one: false, cancelled, proof, ..Rules::NATIVE };
        let mut run = |owner: Option<&str>, asks: Vec<Ask>, elapsed| {
            let batch = Batch { asks, owner: owner.map(str::to_owned), rules, elapsed };
            pair.run(&batch).unwrap().unwrap();
        };
        let add = |fields| Ask::Add(New { fields, ..New::default() });
        let subject = |fields| Ask::Add(New { fields, status, ..New::default() });
        let command = command.then(|| Some("run".to_owned()));
        // What runs beside it touches its files; in one situation it says nothing.
        let files = busy.then(|| Some("src".to_owned()));
        let content = (proof != Proof::Command).then(|| "x".to_owned());
        let second = Fields { files: files.clone(), ..deps(&[]) };
        let subject = subject(Fields { command, files, content, ..deps(if waiting { &[0] } else { &[] }) });
        run(None, vec![Ask::Rules(rules), add(deps(&[])), add(second), subject, add(deps(&[T])), add(deps(&[3]))], 1);
        for (owner, ask, elapsed) in past {
            run(owner, vec![ask], elapsed);
        }
        if busy {
            run(None, vec![Ask::Start(Name::Key(1))], 1);
            run(None, vec![add(deps(&[]))], 1);
            run(Some("ann"), vec![Ask::Start(Name::Key(5))], 1);
        }
        out.push(Situation { pair, new, busy });
    }
    out
}

/// The policies that the rows of an op and of its checks ask about, each with every value.
fn policies(ask: &Ask) -> Vec<Rules> {
    let named = |names: &[&str]| -> Vec<&Row> {
        TABLE.ops.iter().chain(&TABLE.checks).filter(|row| names.contains(&row.name)).collect()
    };
    let mut names = vec![ask.op().unwrap()];
    if matches!(ask, Ask::Edit(..)) {
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
            case.into_iter().fold(Rules::NATIVE, |mut rules, (policy, value)| {
                match (policy, value.as_str()) {
                    ("start_gate", value) => {
                        let gates = [("strict", Gate::Strict), ("at_end", Gate::AtEnd), ("warn", Gate::Warn)];
                        rules.gate = gates.into_iter().find(|(name, _)| *name == value).unwrap().1;
                    }
                    ("verify", value) => {
                        let modes = [
                            ("trust", Proof::Trust),
                            ("claim", Proof::Claim),
                            ("evidence", Proof::Evidence),
                            ("command", Proof::Command),
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
    for cancelled in [Cancelled::Block, Cancelled::Satisfy, Cancelled::Cascade] {
        for situation in situations(cancelled) {
            let pair = &situation.pair;
            for ask in asks(pair.model.now).into_iter().filter(|ask| situation.is_worth(ask, cancelled)) {
                for (rules, owner) in policies(&ask)
                    .into_iter()
                    .flat_map(|rules| [None, Some("ann"), Some("bob")].map(|owner| (rules, owner.map(str::to_owned))))
                {
                    // What is said to be blocked is judged after the other ops of its batch.
                    let more: &[Option<Ask>] = match ask {
                        Ask::Block(_) => &[None, Some(Ask::Start(t())), Some(Ask::Drop(t()))],
                        _ => &[None],
                    };
                    for second in more {
                        let asks = [Some(ask.clone()), second.clone()].into_iter().flatten().collect();
                        let batch =
                            Batch { asks, owner: owner.clone(), rules: Rules { cancelled, ..rules }, elapsed: 1 };
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
    let rows: Vec<&Row> = TABLE.ops.iter().chain(&TABLE.checks).collect();
    let missed: Vec<&&Row> =
        rows.iter().enumerate().filter(|(n, _)| !reached.contains(n)).map(|(_, row)| row).collect();
    assert!(missed.is_empty(), "no call reaches {missed:#?}");
}
