//! Arbitrary batches over few ids, so that collisions, circles, unknown names, removals, returns and renames are
//! common.

use proptest::prelude::{Strategy, any};

use crate::ask::{Ask, Batch, Evidence, Fields, Hold, Name, New, Spot, Status};
use crate::rules::Rules;
use crate::source::Source;

/// Ids that occur. `T-2` meets the made ones.
pub const IDS: [&str; 7] = ["a", "b", "c", "d", "e", "T-2", "zz"];

/// A sequence of writes in any mix of presets and other rules.
pub fn sequences(writes: usize) -> impl Strategy<Value = Vec<Batch>> {
    let bytes = proptest::collection::vec(any::<u8>(), 0..48);
    proptest::collection::vec(bytes.prop_map(|bytes| batch(&mut Source::new(&bytes))), 1..=writes)
}

/// One write.
pub fn batch(source: &mut Source<'_>) -> Batch {
    let rules = rules(source);
    let owner = source.pick(&[None, None, Some("ann".to_owned()), Some("bob".to_owned())]);
    let elapsed = source.pick(&[1, 1, 1, 10, 40]);
    let mut asks = vec![ask(source)];
    asks.extend(source.list(5, ask));
    Batch { asks, owner, rules, elapsed }
}

/// A preset, or any rules.
pub fn rules(source: &mut Source<'_>) -> Rules {
    match source.below(7) {
        n @ 0..5 => Rules::PRESETS[n].1,
        _ => Rules::from_digits(Rules::SIZES.map(|size| source.below(size))),
    }
}

fn id(source: &mut Source<'_>) -> String {
    source.pick(&IDS).to_owned()
}

fn name(source: &mut Source<'_>) -> Name {
    match source.below(10) {
        0..8 => Name::Id(id(source)),
        8 => Name::Key(source.below(6)),
        _ => Name::New(source.below(2)),
    }
}

fn optional<T>(source: &mut Source<'_>, rate: usize, make: impl FnOnce(&mut Source<'_>) -> T) -> Option<T> {
    source.one_in(rate).then(|| make(source))
}

fn hold(source: &mut Source<'_>) -> Hold {
    let until = source.pick(&[None, Some(5), Some(30), Some(90)]);
    Hold { reason: source.pick(&["ask", "wait"]).to_owned(), until }
}

fn fields(source: &mut Source<'_>, new: bool) -> Fields {
    Fields {
        id: if new { None } else { optional(source, 6, |s| if s.one_in(12) { String::new() } else { id(s) }) },
        content: Some(source.pick(&["x", "y", "", "long text"]).to_owned()).filter(|_| new || source.one_in(3)),
        active_form: optional(source, 8, |s| s.pick(&[None, Some("doing".to_owned())])),
        deps: optional(source, 2, |s| s.list(3, name)),
        blocks: if source.one_in(5) { source.list(2, name) } else { Vec::new() },
        phase: optional(source, 8, |s| s.pick(&[None, Some("one".to_owned()), Some("two".to_owned())])),
        priority: optional(source, 4, |s| s.pick(&[1, 2, 3, 4, 5, 5, 1, 2, 0, 6])),
        command: optional(source, 10, |s| s.pick(&[None, Some("check".to_owned())])),
    }
}

fn spot(source: &mut Source<'_>) -> Spot {
    match source.below(8) {
        0..5 => Spot::End,
        5 => Spot::First,
        6 => Spot::Before(name(source)),
        _ => Spot::After(name(source)),
    }
}

fn new(source: &mut Source<'_>) -> New {
    New {
        id: if source.one_in(5) { None } else { Some(id(source)) },
        status: if source.one_in(3) { source.pick(&Status::ALL) } else { Status::Pending },
        fields: fields(source, true),
        spot: spot(source),
        hold: optional(source, 12, hold),
        notes: if source.one_in(6) { source.list(2, |s| s.pick(&["n", "m"]).to_owned()) } else { Vec::new() },
    }
}

/// One thing asked.
pub fn ask(source: &mut Source<'_>) -> Ask {
    match source.below(32) {
        0..6 => Ask::Add(new(source)),
        6..10 => Ask::Edit(name(source), fields(source, false)),
        10..13 => Ask::Start(name(source)),
        13 => Ask::Claim(name(source), i64::from(source.byte())),
        14 => Ask::Renew(name(source), i64::from(source.byte())),
        15..18 => {
            let target = name(source);
            let evidence = optional(source, 3, |s| Evidence {
                command: s.pick(&[Some("check".to_owned()), None]),
                exit: s.pick(&[Some(0), None, Some(1)]),
            });
            Ask::Done(target, evidence, optional(source, 6, |s| s.below(3) as u64))
        }
        18 => Ask::Drop(name(source)),
        19 | 20 => Ask::Fail(name(source), source.pick(&["", "broke"]).to_owned()),
        21 | 22 => Ask::Reopen(name(source)),
        23 => Ask::Hold(name(source), hold(source)),
        24 => Ask::Release(name(source)),
        25 => Ask::Block(name(source)),
        26 | 27 => Ask::Rm(match name(source) {
            Name::New(_) => Name::Id("a".to_owned()),
            other => other,
        }),
        28 => Ask::Note(name(source), source.pick(&["n", "m"]).to_owned()),
        29 => Ask::Move(name(source), spot(source)),
        30 => Ask::Arrange(source.list(5, name)),
        _ => Ask::Rules(rules(source)),
    }
}
