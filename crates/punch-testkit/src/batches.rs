//! Arbitrary batches over few ids, so that collisions, circles, unknown names, removals, returns and renames are
//! common.

use proptest::prelude::{Strategy, any};

use crate::ask::{
    ListSpot, ModelBatch, ModelEvidence, ModelFields, ModelHold, ModelNewTodo, ModelOp, ModelStatus, TodoName,
};
use crate::model::Model;
use crate::rules::{ModelRules, ProofRule};
use crate::source::ByteSource;

/// Ids that occur. `T-2` meets the made ones.
pub const IDS: [&str; 7] = ["a", "b", "c", "d", "e", "T-2", "zz"];

/// The choices of a sequence of writes; [`batch`] reads each against the plan as it is by then.
pub fn sequences(writes: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
    proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..48), 1..=writes)
}

/// One write that mostly names what the plan has.
pub fn batch(bytes: &[u8], model: &Model) -> ModelBatch {
    let source = &mut ByteSource::new(bytes);
    let mut scene = BatchScene { live: model.order.iter().map(|key| model.items[*key].id.clone()).collect() };
    let rules = rules(source);
    let owner = source.pick(&[None, None, Some("ann".to_owned()), Some("bob".to_owned())]);
    let elapsed = source.pick(&[1, 1, 1, 10, 40]);
    let more = source.pick(&[0, 0, 0, 1, 1, 2, 3, 5]);
    let asks = (0..=more).map(|_| scene.ask(source, model.now)).collect();
    ModelBatch { asks, owner, rules, elapsed }
}

/// A preset, or any rules.
pub fn rules(source: &mut ByteSource<'_>) -> ModelRules {
    let rules = match source.below(7) {
        n @ 0..5 => ModelRules::PRESETS[n].1,
        _ => ModelRules::from_digits(ModelRules::SIZES.map(|size| source.below(size))),
    };
    // No preset asks for proof.
    if source.one_in(4) { ModelRules { proof: ProofRule::Command, ..rules } } else { rules }
}

fn optional<T>(source: &mut ByteSource<'_>, rate: usize, make: impl FnOnce(&mut ByteSource<'_>) -> T) -> Option<T> {
    source.one_in(rate).then(|| make(source))
}

/// What the plan has.
struct BatchScene {
    live: Vec<String>,
}

impl BatchScene {
    /// An id that is free, as far as this plan goes.
    fn free(&mut self, source: &mut ByteSource<'_>) -> String {
        let free: Vec<&str> = IDS.into_iter().filter(|id| !self.live.iter().any(|live| live == id)).collect();
        if free.is_empty() || source.one_in(12) {
            return source.pick(&IDS).to_owned();
        }
        let id = source.pick(&free).to_owned();
        self.live.push(id.clone());
        id
    }

    fn name(&mut self, source: &mut ByteSource<'_>) -> TodoName {
        match source.below(24) {
            0..20 if !self.live.is_empty() => TodoName::Id(source.pick(&self.live)),
            0..22 => TodoName::Id(source.pick(&IDS).to_owned()),
            22 => TodoName::Key(source.below(6)),
            _ => TodoName::New(source.below(2)),
        }
    }

    fn fields(&mut self, source: &mut ByteSource<'_>, new: bool) -> ModelFields {
        ModelFields {
            id: if new {
                None
            } else {
                optional(source, 5, |s| if s.one_in(12) { String::new() } else { self.free(s) })
            },
            content: Some(source.pick(&["x", "y", "", "long text"]).to_owned()).filter(|_| new || source.one_in(3)),
            active_form: optional(source, 8, |s| s.pick(&[None, Some("doing".to_owned())])),
            deps: optional(source, 2, |s| s.list(3, |s| self.name(s))),
            blocks: if source.one_in(5) { source.list(2, |s| self.name(s)) } else { Vec::new() },
            phase: optional(source, 8, |s| s.pick(&[None, Some("one".to_owned()), Some("two".to_owned())])),
            priority: optional(source, 4, |s| s.pick(&[1, 2, 3, 4, 5, 5, 1, 2, 4, 3, 2, 1, 0, 6])),
            files: optional(source, 6, |s| s.pick(&[None, Some("src/**".to_owned()), Some("docs".to_owned())])),
            command: optional(source, 3, |s| s.pick(&[None, Some("check".to_owned()), Some("check".to_owned())])),
        }
    }

    fn spot(&mut self, source: &mut ByteSource<'_>) -> ListSpot {
        match source.below(8) {
            0..5 => ListSpot::End,
            5 => ListSpot::First,
            6 => ListSpot::Before(self.name(source)),
            _ => ListSpot::After(self.name(source)),
        }
    }

    fn add(&mut self, source: &mut ByteSource<'_>) -> ModelNewTodo {
        ModelNewTodo {
            id: if source.one_in(5) { None } else { Some(self.free(source)) },
            status: if source.one_in(3) { source.pick(&ModelStatus::ALL) } else { ModelStatus::Pending },
            fields: self.fields(source, true),
            spot: self.spot(source),
            hold: optional(source, 12, |s| hold(s, 0)),
            notes: if source.one_in(6) { source.list(2, |s| s.pick(&["n", "m"]).to_owned()) } else { Vec::new() },
        }
    }

    fn ask(&mut self, source: &mut ByteSource<'_>, now: i64) -> ModelOp {
        match source.below(40) {
            0..7 => ModelOp::Add(self.add(source)),
            7..28 if self.live.is_empty() => ModelOp::Add(self.add(source)),
            7..10 => ModelOp::Edit(self.name(source), self.fields(source, false)),
            10..13 => ModelOp::Start(self.name(source)),
            13 => ModelOp::Claim(self.name(source), now + i64::from(source.byte())),
            14 => ModelOp::Renew(self.name(source), now + i64::from(source.byte())),
            15..18 => {
                let target = self.name(source);
                let evidence = optional(source, 3, |s| ModelEvidence {
                    command: s.pick(&[Some("check".to_owned()), None]),
                    exit: s.pick(&[Some(0), None, Some(1)]),
                    says: s.one_in(2),
                });
                ModelOp::Done(target, evidence, optional(source, 6, |s| s.below(3) as u64))
            }
            18 => ModelOp::Drop(self.name(source)),
            19 | 20 => ModelOp::Fail(self.name(source), source.pick(&["", "broke"]).to_owned()),
            21 | 22 => ModelOp::Reopen(self.name(source)),
            23 => ModelOp::Hold(self.name(source), hold(source, now)),
            24 => ModelOp::Release(self.name(source)),
            25 => ModelOp::Block(self.name(source)),
            26 | 27 => ModelOp::Rm(match self.name(source) {
                TodoName::New(_) => TodoName::Id("a".to_owned()),
                other => other,
            }),
            28 => ModelOp::Note(self.name(source), source.pick(&["n", "m"]).to_owned()),
            29 => ModelOp::Move(self.name(source), self.spot(source)),
            30 => ModelOp::Arrange(source.list(5, |s| self.name(s))),
            31 => ModelOp::Rules(rules(source)),
            32 => {
                let (target, status) = (self.name(source), source.pick(&ModelStatus::ALL));
                let hold = optional(source, 3, |s| hold(s, now)).filter(|_| status == ModelStatus::Pending);
                ModelOp::Restore(target, status, hold, source.one_in(3))
            }
            33 | 34 => {
                let target = self.name(source);
                ModelOp::Report(target, source.one_in(2), optional(source, 6, |s| s.below(3) as u64))
            }
            37 if source.one_in(3) => ModelOp::HandOver(self.name(source), "bob".to_owned()),
            37 => ModelOp::Unclaim(self.name(source)),
            38 | 39 => {
                let command = Some(if source.one_in(6) { "other" } else { "check" }.to_owned());
                let exit = source.pick(&[Some(0), None, Some(1)]);
                let (target, found) = (self.name(source), ModelEvidence { command, exit, says: source.one_in(2) });
                if source.one_in(3) { ModelOp::Refute(target, found) } else { ModelOp::Check(target, found) }
            }
            _ => ModelOp::Vouch(self.name(source), source.one_in(2), source.one_in(2)),
        }
    }
}

fn hold(source: &mut ByteSource<'_>, now: i64) -> ModelHold {
    let until = source.pick(&[None, Some(now + 5), Some(now + 30), Some(now + 90)]);
    let parked = until.is_none() && source.one_in(2);
    ModelHold { reason: source.pick(&["ask", "wait"]).to_owned(), until, parked }
}
