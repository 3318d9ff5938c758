//! The rows of the graph: what is around a todo, or the whole plan by levels; and the critical path.

use std::collections::{BTreeSet, HashMap};

use punch_core::reason::Reader;
use punch_core::schedule::estimate;
use punch_core::{Dep, Todo, Uid};

use super::{Board, RowKey};

impl Board {
    /// The todo, with what it needs above and what waits for it below; or the whole plan by levels.
    pub(super) fn graph_rows(&mut self) -> Vec<RowKey> {
        let Some(reader) = self.data.reader(self.now) else { return Vec::new() };
        let critical = critical_path(reader);
        let rows = match self.graph_center.and_then(|uid| reader.plan.get(uid)).filter(|_| !self.whole_graph) {
            Some(center) => around(reader, center),
            None => self.by_level(reader),
        };
        self.critical = critical;
        rows
    }

    fn by_level(&self, reader: Reader<'_>) -> Vec<RowKey> {
        let mut todos = reader.plan.live();
        todos.retain(|todo| self.filter.matches(reader, todo, self.data.seen));
        todos.sort_by_key(|todo| (todo.derived.level, todo.position, todo.uid));
        let mut rows = Vec::new();
        for level in todos.chunk_by(|a, b| a.derived.level == b.derived.level) {
            rows.push(RowKey::Text(format!("Level {}", level[0].derived.level)));
            rows.extend(level.iter().map(|todo| RowKey::Todo(todo.uid)));
        }
        rows
    }
}

fn around(reader: Reader<'_>, center: &Todo) -> Vec<RowKey> {
    let needs: Vec<Uid> = center.depends_on.iter().filter_map(Dep::target).collect();
    let blocks: Vec<Uid> = reader.plan.dependents_of(center.uid).into_iter().flatten().copied().collect();
    let mut rows = Vec::new();
    for (heading, uids) in [("Needs", needs), ("Selected", vec![center.uid]), ("Blocks", blocks)] {
        let count = if heading == "Selected" { String::new() } else { format!(" ({})", uids.len()) };
        rows.push(RowKey::Text(format!("{heading}{count}")));
        rows.extend(uids.into_iter().filter(|uid| reader.plan.get(*uid).is_some_and(Todo::is_live)).map(RowKey::Todo));
    }
    rows
}

/// The chain of open todos that takes longest, by their estimates. Nothing if no open todo waits for another.
fn critical_path(reader: Reader<'_>) -> BTreeSet<Uid> {
    let mut open: Vec<&Todo> = reader.plan.all().filter(|todo| todo.is_live() && todo.status.is_open()).collect();
    // What a todo needs is of a lower level.
    open.sort_unstable_by_key(|todo| (todo.derived.level, todo.uid));
    let mut longest: HashMap<Uid, (u64, Option<Uid>)> = HashMap::with_capacity(open.len());
    for todo in &open {
        let needed = todo.depends_on.iter().filter_map(|dep| match dep {
            Dep::On(uid) => longest.get(uid).map(|(length, _)| (*length, *uid)),
            Dep::Suspended(_) | Dep::Dangling(_) => None,
        });
        let before = needed.max();
        let length = estimate(todo, 1.0).tokens.max(1).saturating_add(before.map_or(0, |(length, _)| length));
        longest.insert(todo.uid, (length, before.map(|(_, uid)| uid)));
    }
    let last =
        longest.iter().filter(|(_, (_, before))| before.is_some()).max_by_key(|(uid, (length, _))| (*length, **uid));
    let mut at = last.map(|(uid, _)| *uid);
    let mut path = BTreeSet::new();
    while let Some(uid) = at {
        path.insert(uid);
        at = longest.get(&uid).and_then(|(_, before)| *before);
    }
    path
}
