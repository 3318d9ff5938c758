//! A host's list that is rewritten while the work continues: every row keeps its todo.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use punch_core::dialect::mirror::{HostListUpdate, HostRow, HostStatus};
use punch_core::{Note, Op, Ref, Status, Uid, Verify};
use punch_engine::call::{Family, TodoUse, ToolCaller};
use punch_engine::config::{Config, ConfigInputs};
use punch_engine::{Engine, PlanChoice, WriteRequest};
use punch_store::{MemoryStore, PlanId, SessionKey};

struct World {
    engine: Engine,
    plan: PlanId,
}

fn world() -> World {
    let time = AtomicI64::new(1_000);
    let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(move || time.fetch_add(1_000, Ordering::Relaxed)));
    let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
    World { engine, plan }
}

impl World {
    fn list(&self, rows: Vec<HostRow>) {
        self.list_of("s", rows);
    }

    fn list_of(&self, session: &str, rows: Vec<HostRow>) {
        let settings = Config::load(&ConfigInputs::default()).unwrap().settings;
        let caller = ToolCaller::under(&settings, SessionKey::new(session, None), "claude".into());
        let (family, told) = (Family { name: "todo_write", shared: false }, HostListUpdate::List(rows));
        self.engine.mirror(self.plan, &TodoUse { caller: &caller, family, told: &told, key: None }).unwrap();
    }

    fn ids(&self) -> Vec<(String, String, Status)> {
        let plan = self.engine.whole(self.plan).unwrap();
        plan.live().iter().map(|t| (t.id.clone(), t.content.clone(), t.status)).collect()
    }

    fn edit(&self, ops: &[Op]) {
        self.engine.submit(self.plan, &WriteRequest::by("user", None), ops).unwrap();
    }
}

fn row(key: &str, content: &str, status: HostStatus) -> HostRow {
    let key = Some(key.to_owned()).filter(|key| !key.is_empty());
    HostRow { key, content: content.into(), status, ..HostRow::default() }
}

use HostStatus::{Completed, InProgress, Pending};

fn lines(world: &World) -> String {
    let mark = |status: Status| match status {
        Status::Pending => ' ',
        Status::InProgress => '>',
        Status::Completed => 'x',
        Status::Cancelled => '-',
        Status::Failed => '!',
    };
    let line = |(id, content, status): &(String, String, Status)| format!("[{}] {id} {content}\n", mark(*status));
    world.ids().iter().map(line).collect()
}

#[test]
fn numbers_counted_anew_do_not_swap_identities() {
    let world = world();
    world.list(vec![
        row("1", "One", Completed),
        row("2", "Two", Completed),
        row("3", "Three", InProgress),
        row("4", "Four", Pending),
    ]);
    world.list(vec![row("1", "Three", Completed), row("2", "Four", InProgress), row("3", "Five is new", Pending)]);
    assert_eq!(lines(&world), "[x] T-1 One\n[x] T-2 Two\n[x] T-3 Three\n[>] T-4 Four\n[ ] T-5 Five is new\n");
}

#[test]
fn a_list_of_what_is_left_keeps_what_is_finished() {
    let world = world();
    world.list(vec![row("", "a", Completed), row("", "b", InProgress), row("", "c", Pending), row("", "d", Pending)]);
    world.list(vec![row("", "b", Completed), row("", "c", InProgress), row("", "e", Pending)]);
    assert_eq!(lines(&world), "[x] T-1 a\n[x] T-2 b\n[>] T-3 c\n[ ] T-5 e\n", "d was open and left the list");
    let (_, state) = world.engine.session(&SessionKey::new("s", None)).unwrap().unwrap();
    assert_eq!(state.scope.len(), 4, "it still answers for what it finished");
    world.list(vec![row("", "c", Completed), row("", "e", Completed), row("", "a", Completed)]);
    assert_eq!(lines(&world).matches("] T-").count(), 4, "what comes back is not doubled: {}", lines(&world));
}

#[test]
fn a_rename_keeps_notes_checks_and_dependents() {
    for (before, after) in [
        ("Fix the lexer", "Fix the lexer: numbers with underscores"),
        ("Fix the lexer: numbers with underscores", "Fix the lexer"),
        ("Write the integration tests", "Write integration tests"),
        ("fix the lexer", "Fix the lexer."),
    ] {
        let world = world();
        world.list(vec![row("", "Read the code", Completed), row("", before, InProgress), row("", "Release", Pending)]);
        let verify = punch_core::Edit {
            verify: punch_core::Keep::Set(Some(Verify::Shell("make".into()))),
            ..punch_core::Edit::default()
        };
        let waits = punch_core::Edit {
            depends_on: punch_core::Keep::Set(vec![Ref::Id("T-2".into())]),
            ..punch_core::Edit::default()
        };
        world.edit(&[
            Op::Edit(Ref::Id("T-2".into()), verify),
            Op::Edit(Ref::Id("T-3".into()), waits),
            Op::Note(Ref::Id("T-2".into()), "by hand".into()),
        ]);
        world.list(vec![row("", "Read the code", Completed), row("", after, InProgress), row("", "Release", Pending)]);
        let plan = world.engine.whole(world.plan).unwrap();
        let todo = plan.by_id("T-2").unwrap();
        assert_eq!((todo.content.as_str(), todo.verify.is_some(), plan.live().len()), (after, true, 3));
        assert!(matches!(&todo.notes[..], [Note { text, .. }] if text == "by hand"));
        assert_eq!(plan.by_id("T-3").unwrap().depends_on[0].target(), Some(todo.uid));
    }
}

#[test]
fn another_piece_of_work_in_the_same_place_is_no_rename() {
    for (before, after) in
        [("Write chapter 1", "Write chapter 2"), ("Fix the lexer", "Document the release"), ("Step 3", "Step 4")]
    {
        let world = world();
        world.list(vec![row("", before, Pending), row("", "Release", Pending)]);
        world.list(vec![row("", after, Pending), row("", "Release", Pending)]);
        let plan = world.engine.whole(world.plan).unwrap();
        assert_eq!(plan.by_id("T-1").map(|todo| todo.is_live()), None, "{before} -> {after}");
    }
}

#[test]
fn what_waits_for_what_follows_the_work_when_numbers_change() {
    let world = world();
    let waits = |key: &str, content: &str, status: HostStatus, on: &[&str]| HostRow {
        blocked_by: Some(on.iter().map(|key| (*key).to_owned()).collect()),
        ..row(key, content, status)
    };
    let depends = |content: &str| {
        let plan = world.engine.whole(world.plan).unwrap();
        let todo = plan.live().into_iter().find(|todo| todo.content == content).unwrap();
        let name = |dep: &punch_core::Dep| plan.get(dep.target()?).map(|todo| todo.content.clone());
        todo.depends_on.iter().filter_map(name).collect::<Vec<_>>()
    };
    world.list(vec![
        waits("1", "design", Completed, &[]),
        waits("2", "build", InProgress, &["1"]),
        waits("3", "ship", Pending, &["2"]),
    ]);
    world.list(vec![
        waits("1", "build", InProgress, &[]),
        waits("2", "measure", Pending, &["1"]),
        waits("3", "ship", Pending, &["2"]),
    ]);
    assert_eq!(depends("ship"), ["measure"], "the same number is another row now");
    assert_eq!(depends("measure"), ["build"]);
}

/// A word without digits for every number.
fn word(n: usize) -> String {
    let letter = |n: usize| char::from(b'a' + (n % 26) as u8);
    format!("w{}{}{}", letter(n), letter(n / 26), letter(n / 676))
}

#[derive(Clone, Debug)]
struct Item {
    who: usize,
    words: Vec<String>,
    status: HostStatus,
}

impl Item {
    fn content(&self) -> String {
        self.words.join(" ")
    }
}

/// Changes to rows of the list (what, at), by how much the rows rotate, how many are new, and whether finished ones go.
type Rewrite = (Vec<(u8, u8)>, u64, usize, bool);

/// Against a model that knows which row is which: rewrites that renumber, rename, reorder, add, and leave out finished and
/// open rows never move a todo to other work, and never remove what is finished. (A number that an open row gives up for a
/// new one is a rename to the host as well, so numbered rows are not left out open.)
fn keep_identities(keyed: bool, rewrites: Vec<Rewrite>) -> Result<(), TestCaseError> {
    let world = world();
    let (mut items, mut known): (Vec<Item>, BTreeMap<usize, Uid>) = (Vec::new(), BTreeMap::new());
    let (mut next, mut finished): (usize, BTreeMap<Uid, String>) = (0, BTreeMap::new());
    for (changes, order, new, drop_finished) in rewrites {
        let mut removed = Vec::new();
        for (what, at) in changes {
            let len = items.len().max(1);
            let Some(item) = items.get_mut(usize::from(at) % len) else { continue };
            match what {
                0 => item.status = Completed,
                // What is finished and open again under other words is new work.
                1 if item.status != Completed => item.status = InProgress,

                2 => item.words.push(word(usize::from(at) + 5_000)),
                3 if item.words.len() > 5 => drop(item.words.pop()),
                4 if item.status != Completed && !keyed => removed.push(items.remove(usize::from(at) % len)),
                _ => {}
            }
        }
        if drop_finished {
            let (done, left): (Vec<Item>, Vec<Item>) =
                items.into_iter().partition(|item| item.status == Completed && known.contains_key(&item.who));
            // Only what the host has said to be finished is known as such.
            let plan = world.engine.whole(world.plan).unwrap();
            let (done, just): (Vec<Item>, Vec<Item>) = done
                .into_iter()
                .partition(|item| plan.get(known[&item.who]).is_some_and(|t| t.status == Status::Completed));
            for item in done {
                let uid = known[&item.who];
                finished.insert(uid, plan.get(uid).unwrap().content.clone());
            }
            items = left.into_iter().chain(just).collect();
        }
        for _ in 0..new {
            let words = (0..5).map(|n| word(next * 5 + n)).collect();
            items.push(Item { who: next, words, status: Pending });
            next += 1;
        }
        if !items.is_empty() {
            let by = order as usize % items.len();
            items.rotate_left(by);
        }
        let key = |n: usize| if keyed { (n + 1).to_string() } else { String::new() };
        let rows = items.iter().enumerate().map(|(n, item)| row(&key(n), &item.content(), item.status));
        world.list(rows.collect());
        let plan = world.engine.whole(world.plan).unwrap();
        for item in &items {
            let todo = plan.live().into_iter().find(|todo| todo.content == item.content()).unwrap();
            let uid = *known.entry(item.who).or_insert(todo.uid);
            prop_assert_eq!(uid, todo.uid, "{} is another todo now", item.content());
        }
        let mut uids: Vec<Uid> = known.values().copied().collect();
        uids.sort_unstable();
        uids.dedup();
        prop_assert_eq!(uids.len(), known.len(), "two rows share a todo");
        for (uid, content) in &finished {
            let todo = plan.get(*uid).unwrap();
            prop_assert!(todo.is_live() && todo.status == Status::Completed && todo.content == *content);
        }
        for uid in removed.iter().filter_map(|item| known.get(&item.who)) {
            prop_assert!(plan.get(*uid).is_none_or(|todo| !todo.is_live()), "what was open left the list and stays");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn rewrites_keep_identities(
        keyed in any::<bool>(),
        rewrites in prop::collection::vec(
            (prop::collection::vec((0..6_u8, any::<u8>()), 0..8), any::<u64>(), 0..4_usize, any::<bool>()),
            1..8,
        ),
    ) {
        keep_identities(keyed, rewrites)?;
    }
}

#[test]
fn a_row_that_moves_and_gets_much_longer_keeps_its_todo_when_a_new_row_takes_its_number() {
    let longer = (vec![(2, 0); 4], 1, 2, false);
    keep_identities(true, vec![(Vec::new(), 0, 1, false), longer]).unwrap();
}
