//! Finds out which rows of a board have changed. Only a digest of each row is stored, because a large plan would
//! otherwise be in memory twice. Rows are made only for todos whose row may have changed.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::BoardRow;
use crate::graph::hash::Map;
use crate::reason::PlanReader;
use crate::{Dep, Plan, Status, Todo, Uid};

/// What the rows of a plan looked like at the last look.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BoardDigests {
    digests: Map<Uid, u64>,
    /// The time of the last look.
    now: i64,
}

/// Rows that look different than at the last look.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RowChanges {
    /// Todos with a row that is new or different.
    pub changed: BTreeSet<Uid>,
    /// Todos that no longer have a row.
    pub gone: BTreeSet<Uid>,
}

impl BoardDigests {
    /// Returns true if the todo has a row.
    pub fn contains(&self, uid: Uid) -> bool {
        self.digests.contains_key(&uid)
    }

    /// Looks at every todo of a whole plan.
    pub fn refresh_all(&mut self, reader: PlanReader<'_>) -> RowChanges {
        let todos = reader.plan.all().map(|todo| todo.uid);
        let uids: BTreeSet<Uid> = todos.chain(self.digests.keys().copied()).collect();
        self.look(reader, uids)
    }

    /// Looks at the todos of a whole plan whose rows can have changed since the last look: because of these todos, given as
    /// they were before, or because of the time.
    pub fn refresh<'a>(
        &mut self,
        reader: PlanReader<'_>,
        before: impl IntoIterator<Item = (Uid, Option<&'a Todo>)>,
    ) -> RowChanges {
        let mut reach = Reach { plan: reader.plan, uids: BTreeSet::new(), files: false };
        for todo in reader.plan.all().filter(|todo| todo.differs_by_time(self.now, reader.now)) {
            reach.add(todo.uid, Some(todo));
        }
        before.into_iter().for_each(|(uid, before)| reach.add(uid, before));
        self.look(reader, reach.all())
    }

    fn look(&mut self, reader: PlanReader<'_>, uids: BTreeSet<Uid>) -> RowChanges {
        self.now = reader.now;
        let mut out = RowChanges::default();
        for uid in uids {
            match reader.plan.get(uid).filter(|todo| todo.is_live()) {
                Some(todo) => {
                    let mut hasher = DefaultHasher::new();
                    BoardRow::of(reader, todo).hash(&mut hasher);
                    let digest = hasher.finish();
                    if self.digests.insert(uid, digest) != Some(digest) {
                        out.changed.insert(uid);
                    }
                }
                None => {
                    if self.digests.remove(&uid).is_some() {
                        out.gone.insert(uid);
                    }
                }
            }
        }
        out
    }
}

/// The todos whose rows say something about todos that changed.
struct Reach<'p> {
    plan: &'p Plan,
    uids: BTreeSet<Uid>,
    /// Work in progress on files began, ended or changed, which every todo with files can wait for.
    files: bool,
}

impl Reach<'_> {
    /// A row counts the todos that need it, and says how those that it needs stand.
    fn add(&mut self, uid: Uid, before: Option<&Todo>) {
        let after = self.plan.get(uid);
        self.uids.insert(uid);
        self.uids.extend(self.plan.dependents_of(uid).into_iter().flatten());
        for todo in [before, after].into_iter().flatten() {
            self.uids.extend(todo.depends_on.iter().filter_map(Dep::target));
            self.files |= todo.status == Status::InProgress && !todo.files.is_empty();
        }
    }

    fn all(mut self) -> BTreeSet<Uid> {
        if self.files {
            let with_files = self.plan.all().filter(|todo| todo.is_live() && !todo.files.is_empty());
            for todo in with_files {
                self.uids.insert(todo.uid);
                self.uids.extend(self.plan.dependents_of(todo.uid).into_iter().flatten());
            }
        }
        self.uids
    }
}
