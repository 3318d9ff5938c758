//! What every store promises about events and the baseline that pruned ones leave behind.

use punch_core::{Event, Footprint, Op, Plan, Ref};
use punch_store::{Durability, PlanId, Store};

use super::plan;
use super::submit::{add, add_as, done, look, must, whole};

pub fn events_come_in_whole_revisions(store: &dyn Store) {
    let id = plan(store);
    must(store, id, 1, &[add("a"), add("b"), add("c")]);
    must(store, id, 2, &[add("d")]);
    must(store, id, 3, &[add("e"), add("f")]);
    let page = |since, limit| {
        let events = look(store, id, |s| s.events(since, limit));
        events.iter().map(|e: &Event| (e.revision, e.seq)).collect::<Vec<_>>()
    };
    assert_eq!(page(0, 1), [(1, 0), (1, 1), (1, 2)]);
    assert_eq!(page(0, 4), [(1, 0), (1, 1), (1, 2), (2, 0)]);
    assert_eq!(page(1, 2), [(2, 0), (3, 0), (3, 1)]);
    assert_eq!(page(3, 9), []);
    assert_eq!(page(u64::MAX, 9), []);
    assert_eq!(page(0, 0), []);
    let head = |limit| look(store, id, |s| s.events_head(3, limit));
    let all = look(store, id, |s| s.events_of(3));
    assert_eq!(head(0), (vec![], 2));
    assert_eq!(head(1), (all[..1].to_vec(), 2));
    assert_eq!(head(9), (all, 2));
    assert_eq!(look(store, id, |s| s.events_head(99, 9)), (vec![], 0));
    assert_eq!(look(store, id, |s| Ok(s.events_of(3)?.len())), 2);
    let mut slice = Plan::slice(whole(store, id).row);
    let asked = Footprint { revisions: [2, 9].into(), ..Footprint::default() };
    look(store, id, |s| s.load(&asked, &mut slice));
    assert_eq!(slice.events(2).map(<[Event]>::len), Some(1));
    assert_eq!(slice.events(9), Some(&[][..]), "an unknown revision is answered, so that nobody asks for ever");
}

fn refold(store: &dyn Store, id: PlanId) -> Plan {
    let (mut plan, events) = look(store, id, |s| Ok((s.baseline()?, s.events(0, usize::MAX)?)));
    for event in &events {
        punch_core::apply::fold(&mut plan, event);
    }
    punch_core::apply::derive(&mut plan);
    plan
}

pub fn pruned_events_become_the_baseline(store: &dyn Store) {
    let id = plan(store);
    must(store, id, 1, &[add_as("a", &[]), add_as("b", &["a"]), add_as("c", &["b"])]);
    must(store, id, 2, &[done("a")]);
    must(store, id, 3, &[Op::Note(Ref::Id("b".into()), "x".into())]);
    must(store, id, 4, &[done("b"), add_as("d", &["c"])]);
    let before = look(store, id, |s| s.events(0, 99));
    let (old, rest): (Vec<Event>, Vec<Event>) = before.into_iter().partition(|event| event.revision < 3);
    let todos = |plan: &Plan| plan.all().cloned().collect::<Vec<_>>();
    let stored = todos(&whole(store, id));
    let mut exported = Vec::new();
    let prune = |before: u64, to: &mut Vec<u8>| {
        let mut count = 0;
        store
            .write(id, Durability::Full, &mut |tx| {
                count = tx.prune(before, to)?;
                Ok(())
            })
            .unwrap();
        count
    };
    assert_eq!(prune(3, &mut exported), old.len() as u64);
    let lines: Vec<Event> =
        exported.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(|l| serde_json::from_slice(l).unwrap()).collect();
    assert_eq!(lines, old);
    assert_eq!(look(store, id, |s| s.events(0, 99)), rest);
    assert_eq!(look(store, id, |s| s.events_of(1)), []);
    assert_eq!(look(store, id, |s| Ok((s.info()?.revision, s.info()?.pruned))), (4, 2));
    assert_eq!(todos(&refold(store, id)), stored);
    assert_eq!(prune(3, &mut Vec::new()), 0);
    assert_eq!(prune(u64::MAX, &mut Vec::new()), rest.len() as u64);
    assert_eq!(look(store, id, |s| s.events(0, 99)), []);
    assert_eq!(todos(&refold(store, id)), stored);
    must(store, id, 5, &[done("c")]);
    assert_eq!(todos(&refold(store, id)), todos(&whole(store, id)));
}

pub fn an_export_that_fails_prunes_nothing(store: &dyn Store) {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let id = plan(store);
    must(store, id, 1, &[add("a")]);
    let failed = store.write(id, Durability::Full, &mut |tx| tx.prune(9, &mut Full).map(|_| ())).unwrap_err();
    assert_eq!(failed.code(), "store_failed");
    assert_eq!(look(store, id, |s| Ok((s.events(0, 9)?.len(), s.info()?.pruned))), (1, 0));
}
