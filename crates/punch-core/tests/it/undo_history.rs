//! Undo and redo in histories of several authors against the naive model: which revision is meant, whether it can be
//! undone, and the events, not only the plan that they lead to.

use std::collections::BTreeSet;

use proptest::prelude::*;
use punch_core::{
    Actor, Add, ApplyStop, Context, Edit, Event, Evidence, Fields, InProgressLimit, Keep, Label, LabelEdit, Op, Patch,
    Plan, Policy, Ref, StartGate, apply,
};
use punch_testkit::undo::{ModelHistory, ModelRevision, Todos, UndoRequest};
use serde_json::{Map, Value, json};

/// The user, two sessions of one agent, and another agent.
fn author(n: usize) -> Actor {
    match n {
        0 => Actor::user(),
        1 => Actor::agent("claude", "session-1"),
        2 => Actor::agent("claude", "session-2"),
        _ => Actor::agent("codex", "session-3"),
    }
}

/// What tells authors apart.
fn name(actor: &Actor) -> String {
    format!("{} {}", actor.by(), actor.owner().unwrap_or_default())
}

/// One step: who, what kind of thing, on which todo or revision, with which value.
type Step = (usize, u8, usize, u8);

const HOUR: i64 = 3_600_000;

struct World {
    plan: Plan,
    log: Vec<Event>,
    history: ModelHistory,
    now: i64,
}

impl World {
    fn new() -> Self {
        Self { plan: Plan::new(), log: Vec::new(), history: ModelHistory::default(), now: 0 }
    }

    fn apply(&mut self, ops: &[Op], actor: &Actor) -> Result<Vec<Event>, &'static str> {
        // Every lease is over at the next step: claims are another subject.
        self.now += HOUR;
        for events in self.log.chunk_by(|a, b| a.revision == b.revision) {
            self.plan.put_events(events[0].revision, events.to_vec());
        }
        let policy = Policy { start_gate: StartGate::Warn, in_progress: InProgressLimit::Any, ..Policy::default() };
        let ctx = Context::new(self.now, actor.clone(), policy);
        match apply(&self.plan, ops, &ctx) {
            Ok(outcome) => {
                let before = todos(&self.plan);
                self.plan.commit(&outcome);
                self.log.extend(outcome.events.clone());
                if let Some(first) = outcome.events.first() {
                    let revision =
                        ModelRevision { by: name(actor), undoes: first.undoes, before, after: todos(&self.plan) };
                    self.history.revisions.push(revision);
                }
                Ok(outcome.events)
            }
            Err(ApplyStop::Refused(refusals)) => {
                crate::pair::presentable(&refusals[0]).unwrap();
                Err(refusals[0].code())
            }
            Err(ApplyStop::Need(need)) => panic!("a whole plan asked for {need:?}"),
        }
    }

    /// An ordinary change; most are accepted.
    fn change(&mut self, (by, kind, which, value): Step) {
        let actor = author(by);
        // What a user starts stays claimed.
        let kind = if actor.is_user() && matches!(kind % 14, 5 | 11) { 3 } else { kind };
        let live: Vec<_> = self.plan.live().into_iter().map(|todo| todo.uid).collect();
        let target = Ref::Uid(if live.is_empty() { punch_core::Uid(1) } else { live[which % live.len()] });
        let text = format!("text {}", value % 3);
        let edit = |edit: Edit| Op::Edit(target.clone(), edit);
        let op = match kind % 14 {
            0..=2 => {
                let deps = if value % 3 == 0 && !live.is_empty() { vec![target] } else { Vec::new() };
                let edit = Edit { content: Keep::Set(text), depends_on: Keep::Set(deps), ..Edit::default() };
                Op::Add(Add { edit, ..Add::default() })
            }
            3 => edit(Edit { content: Keep::Set(text), ..Edit::default() }),
            4 => edit(Edit { priority: Keep::Set(value % 5 + 1), ..Edit::default() }),
            5 => Op::Start(target),
            6 => {
                let evidence = Evidence { text: Some(text), ..Evidence::default() };
                Op::Done { target, evidence: (value % 2 == 0).then_some(evidence), fence: None }
            }
            7 => Op::Reopen(target),
            8 | 9 => Op::Note(target, text),
            10 => Op::Rm(target),
            11 => Op::Claim(target, self.now + HOUR),
            12 => edit(Edit { labels: LabelEdit::Set(labels(value)), ..Edit::default() }),
            _ => edit(Edit {
                labels: LabelEdit::Change { add: labels(value), remove: labels(value >> 4) },
                ..Edit::default()
            }),
        };
        let _ = self.apply(&[op], &actor);
    }

    /// An undo or redo, compared with what the model says.
    fn undo(&mut self, (by, kind, which, _): Step) -> Result<(), TestCaseError> {
        let revision = which as u64 % (self.plan.row.revision + 2);
        let (wish, op) = match kind % 6 {
            0 | 1 => (UndoRequest::Last(false), Op::Undo { revision: None, any: false }),
            2 => (UndoRequest::Last(true), Op::Undo { revision: None, any: true }),
            3 => (UndoRequest::Revision(revision), Op::Undo { revision: Some(revision), any: false }),
            _ => (UndoRequest::Redo, Op::Redo),
        };
        let actor = author(by);
        let before = self.plan.clone();
        let expected = self.history.judge(wish, &name(&actor), self.now + HOUR);
        let got = self.apply(&[op], &actor);
        match (expected, got) {
            (Ok((revision, patches)), Ok(events)) => {
                prop_assert!(!events.is_empty(), "success without a change");
                let seqs: Vec<u32> = events.iter().map(|event| event.seq).collect();
                prop_assert_eq!(seqs, (0..).take(events.len()).collect::<Vec<u32>>());
                for event in &events {
                    let rest = (event.revision, event.kind.name(), event.at, event.by.as_str(), event.undoes);
                    prop_assert_eq!(rest, (before.row.revision + 1, "reverted", self.now, actor.by(), Some(revision)));
                    prop_assert_eq!(event.owner.as_deref(), actor.owner());
                }
                prop_assert_eq!(events.iter().map(patch).collect::<Vec<_>>(), patches);
            }
            (expected, got) => prop_assert_eq!(got.map(|_| ()), expected.map(|_| ()), "{:?}", wish),
        }
        Ok(())
    }
}

/// Some of four labels.
fn labels(bits: u8) -> BTreeSet<Label> {
    let words = ["a", "b", "c", "d"].into_iter().enumerate().filter(|(n, _)| bits >> n & 1 == 1);
    Label::parse_all(words.map(|(_, word)| word)).unwrap()
}

/// A patch with its fields in no order.
fn patch(event: &Event) -> Value {
    let Patch::Todo(uid, changes) = &event.patch else { return json!(event.patch) };
    let mut all = Map::new();
    for change in changes {
        all.extend(json!(change).as_object().unwrap().clone());
    }
    json!({"todo": uid, "changes": all})
}

fn todos(plan: &Plan) -> Todos {
    plan.all().map(|todo| (todo.uid.0, fields(&todo.fields))).collect()
}

/// Every field by its name. Stored todos leave defaults out.
fn fields(f: &Fields) -> Map<String, Value> {
    let all = json!({
        "id": f.id, "content": f.content, "active_form": f.active_form, "description": f.description,
        "status": f.status, "hold": f.hold, "depends_on": f.depends_on, "phase": f.phase, "position": f.position,
        "priority": f.priority, "labels": f.labels, "complexity": f.complexity, "estimated_tokens": f.estimated_tokens,
        "actual_tokens": f.actual_tokens, "criteria": f.criteria, "verify": f.verify, "evidence": f.evidence,
        "files": f.files, "notes": f.notes, "owner": f.owner, "fence": f.fence, "attempts": f.attempts,
        "last_error": f.last_error, "created_at": f.created_at, "started_at": f.started_at,
        "finished_at": f.finished_at, "hidden": f.hidden, "removed": f.removed, "extra": f.extra, "flags": f.flags,
    });
    let all = all.as_object().unwrap().clone();
    assert!(Fields::NAMES.iter().all(|name| all.contains_key(*name)), "a field is missing here");
    all
}

fn steps() -> impl Strategy<Value = Vec<(bool, Step)>> {
    let step = (0..4usize, any::<u8>(), 0..30usize, any::<u8>());
    prop::collection::vec((prop::bool::weighted(0.45), step), 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn undo_and_redo_mean_and_do_what_the_naive_model_says(steps in steps()) {
        let mut world = World::new();
        for (undo, step) in steps {
            if undo { world.undo(step)? } else { world.change(step) }
        }
    }
}

fn add(world: &mut World, by: &Actor, content: &str) {
    let edit = Edit { content: Keep::Set(content.into()), ..Edit::default() };
    world.apply(&[Op::Add(Add { edit, ..Add::default() })], by).unwrap();
}

fn undo(world: &mut World, by: &Actor, revision: Option<u64>, any: bool) -> Result<Option<u64>, &'static str> {
    world.apply(&[Op::Undo { revision, any }], by).map(|events| events[0].undoes)
}

#[test]
fn undo_after_a_named_undo_means_the_last_change_that_stands() {
    let mut world = World::new();
    ["a", "b", "c"].into_iter().for_each(|content| add(&mut world, &Actor::user(), content));
    assert_eq!(undo(&mut world, &Actor::user(), Some(1), false), Ok(Some(1)));
    assert_eq!(undo(&mut world, &Actor::user(), None, false), Ok(Some(3)));
    assert_eq!(undo(&mut world, &Actor::user(), None, false), Ok(Some(2)));
    assert_eq!(undo(&mut world, &Actor::user(), None, false), Err("nothing_to_undo"));
    assert_eq!(undo(&mut world, &Actor::user(), Some(1), false), Err("already_undone"));
    assert_eq!(world.apply(&[Op::Redo], &Actor::user()).unwrap()[0].undoes, Some(6));
    assert_eq!(world.plan.live().len(), 1);
}

#[test]
fn undo_passes_over_what_cannot_be_undone() {
    let mut world = World::new();
    add(&mut world, &Actor::user(), "a");
    let first = Ref::Uid(world.plan.live()[0].uid);
    world.apply(&[Op::Note(first.clone(), "seen".into())], &author(3)).unwrap();
    assert_eq!(undo(&mut world, &Actor::user(), Some(2), false), Err("nothing_undoable"));
    assert_eq!(undo(&mut world, &Actor::user(), None, true), Ok(Some(1)));
    assert_eq!(undo(&mut world, &author(3), None, false), Ok(Some(2)));
}

#[test]
fn undos_without_a_record_pair_with_the_changes_before_them() {
    let mut world = World::new();
    ["a", "b", "c"].into_iter().for_each(|content| add(&mut world, &Actor::user(), content));
    for _ in 0..2 {
        undo(&mut world, &Actor::user(), None, false).unwrap();
    }
    world.log.iter_mut().for_each(|event| event.undoes = None);
    assert_eq!(undo(&mut world, &Actor::user(), Some(2), false), Err("already_undone"));
    assert_eq!(undo(&mut world, &Actor::user(), None, false), Ok(Some(1)));
    assert_eq!(world.apply(&[Op::Redo], &Actor::user()).unwrap()[0].undoes, Some(6));
    assert_eq!(world.apply(&[Op::Redo], &Actor::user()).unwrap()[0].undoes, Some(5));
}

#[test]
fn two_sessions_of_one_agent_do_not_undo_each_other() {
    let mut world = World::new();
    add(&mut world, &author(1), "a");
    add(&mut world, &author(2), "b");
    assert_eq!(undo(&mut world, &author(1), None, false), Ok(Some(1)));
    assert_eq!(undo(&mut world, &author(1), None, false), Err("nothing_to_undo"));
    // The log of an older program does not tell them apart.
    world.log.iter_mut().for_each(|event| event.owner = None);
    assert_eq!(undo(&mut world, &author(1), None, false), Ok(Some(2)));
}
