//! Caches what a write knows about its plan. The plan is locked, so what was read stays valid except for the changes of
//! this write, which are known too. Together with what is fetched along with the lock, a write that completes a todo
//! and claims the next one sends no queries in between.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use punch_core::{Footprint, LONGEST_LEASE, Plan, Todo, Uid};
use punch_store::{ListMark, PlanId, ReadyMark};

use crate::answer::{SqlRow, WireError};
use crate::link::{Statement, ask};
use crate::load;
use crate::todo::{columns, queue};
use crate::value::{Columns, SqlValue, count};

/// Todos in progress that are remembered at most. Where more are in progress, they are asked for.
const RUNNING_MOST: usize = 100;

const RUNNING: &str = concat!("SELECT ", columns!(), " FROM punch.todo t WHERE t.plan = $1 AND t.queue = 3 LIMIT $2");

/// Ready todos that are fetched with the lock, from each part of [`MAY_BE_READY`]. More than one, because the first ones may touch files of running todos.
const WINDOW: usize = 8;

/// What may be ready: at once, when a time comes, when a lease runs out. One statement, because each costs the server more than
/// its rows do. Further columns say which part a row comes from and what its place in the queue is.
const MAY_BE_READY: &str = concat!(
    "(SELECT ",
    columns!(),
    ", 0::int8, t.effective::int8, t.pos FROM punch.todo t WHERE t.plan = $1 AND t.queue = 1 \
     ORDER BY t.plan, t.queue, t.effective, t.pos, t.uid LIMIT 8) UNION ALL (SELECT ",
    columns!(),
    ", 1::int8, t.effective::int8, t.pos FROM punch.todo t WHERE t.plan = $1 AND t.queue = 2 AND t.held_until <= $2 \
     ORDER BY t.effective, t.pos, t.uid LIMIT 8) UNION ALL (SELECT ",
    columns!(),
    ", 2::int8, t.effective::int8, t.pos FROM punch.todo t WHERE t.plan = $1 AND t.queue = 3 AND t.unmet = 0 AND t.lease_until IS NOT NULL \
     AND (t.lease_until <= $2 OR t.lease_until > $3) AND coalesce(t.held_until, $2) <= $2 \
     ORDER BY t.effective, t.pos, t.uid LIMIT 8)"
);

/// How far the time of the server may lie from what is expected before it is asked, in milliseconds. Writers wait up to ten
/// seconds for the lock. Todos whose leases end within this time fill the window, so it is shorter than leases are.
const MARGIN: i64 = 15_000;

/// Todos that are named by their ids, and all of their dependents with the number of the one that they depend on.
const DEPENDENTS_OF_IDS: &str = concat!(
    "SELECT ",
    columns!(),
    ", e.dep FROM unnest($2::text[]) AS n (id) CROSS JOIN LATERAL \
     (SELECT d.uid FROM punch.todo d WHERE d.plan = $1 AND d.id = n.id AND d.removed IS NULL OFFSET 0) d CROSS JOIN LATERAL \
     (SELECT d.uid, NULL::int8 AS dep UNION ALL \
     SELECT e.dependent, e.dep FROM punch.edge e WHERE e.plan = $1 AND e.dep = d.uid) e CROSS JOIN LATERAL \
     (SELECT * FROM punch.todo t WHERE t.plan = $1 AND t.uid = e.uid OFFSET 0) t"
);

/// All dependents of todos, with the number of the one that they depend on.
const DEPENDENTS_OF_UIDS: &str = concat!(
    "SELECT ",
    columns!(),
    ", e.dep FROM unnest($2::int8[]) AS n (dep) CROSS JOIN LATERAL \
     (SELECT * FROM punch.edge e WHERE e.plan = $1 AND e.dep = n.dep OFFSET 0) e CROSS JOIN LATERAL \
     (SELECT * FROM punch.todo t WHERE t.plan = $1 AND t.uid = e.dependent OFFSET 0) t"
);

/// Questions about ready todos at a time that is known only roughly.
pub struct ReadyWindow {
    from: i64,
    until: i64,
    /// Where the answers end; `None` if they are complete.
    end: Option<ReadyMark>,
    todos: BTreeSet<Uid>,
    /// Rows that were not read yet, best first: most writes need one of them.
    unread: VecDeque<(ReadyMark, SqlRow)>,
}

/// An answer to the question what is ready.
pub enum ReadyLookup {
    Todos(Vec<Todo>),
    /// These rows must be read first.
    Unread(Vec<SqlRow>),
    /// The server must be asked.
    Unknown,
}

impl ReadyWindow {
    /// A window around the time that is expected.
    pub const fn around(now: i64) -> Self {
        Self { from: now - MARGIN, until: now + MARGIN, end: None, todos: BTreeSet::new(), unread: VecDeque::new() }
    }

    /// What to ask.
    pub fn ask(&self, plan: PlanId) -> Statement {
        ask!("read todos", MAY_BE_READY, plan.0, self.until, self.from + LONGEST_LEASE)
    }

    /// Takes over the answer.
    pub fn take(&mut self, rows: &[SqlRow]) -> Result<(), WireError> {
        let mut ends = BTreeMap::new();
        for row in rows {
            let priority = u8::try_from(row.int(8)?).unwrap_or(u8::MAX);
            let mark = ReadyMark { priority, position: row.int(9)?, uid: Uid(row.number(0)?) };
            let (count, last) = ends.entry(row.int(7)?).or_insert((0, mark));
            (*count, *last) = (*count + 1, mark.max(*last));
            self.unread.push_back((mark, row.clone()));
        }
        self.end = ends.into_values().filter(|(count, _)| *count >= WINDOW).map(|(_, last)| last).min();
        self.unread.make_contiguous().sort_by_key(|(mark, _)| *mark);
        Ok(())
    }
}

/// What a write knows.
#[derive(Default)]
pub struct KnownTodos {
    todos: HashMap<Uid, Todo>,
    /// Complete lists of dependents.
    dependents: HashMap<Uid, BTreeSet<Uid>>,
    /// What was in progress when the plan was locked, if that is all of it.
    running: Option<BTreeSet<Uid>>,
    ready: Option<ReadyWindow>,
    put: BTreeSet<Uid>,
    /// There was too much to remember: everything is asked for.
    is_off: bool,
}

/// How many todos are remembered at most: an import may write a million.
const MOST: usize = 5_000;

impl KnownTodos {
    fn remember(&mut self, todo: &Todo) {
        if self.is_off {
            return;
        }
        self.todos.insert(todo.uid, todo.clone());
        if self.todos.len() > MOST {
            *self = Self { is_off: true, ..Self::default() };
        }
    }

    /// A todo was read.
    pub fn read(&mut self, todo: &Todo) {
        // What was put is newer than an answer to a question that was asked before.
        if !self.put.contains(&todo.uid) {
            self.remember(todo);
        }
    }

    /// Todos are written by this transaction.
    pub fn put(&mut self, todos: &[Todo]) {
        for todo in todos {
            self.put.insert(todo.uid);
            self.remember(todo);
        }
    }

    /// Edges are written by this transaction.
    pub fn relinked(&mut self) {
        self.dependents.clear();
    }

    /// All dependents of a todo were read.
    pub fn depend_on(&mut self, todo: Uid, dependents: BTreeSet<Uid>) {
        self.dependents.insert(todo, dependents);
    }

    /// Todos in progress were fetched.
    pub fn see_running(&mut self, todos: &[Todo]) {
        if todos.len() <= RUNNING_MOST && !self.is_off {
            self.running = Some(todos.iter().map(|todo| todo.uid).collect());
        }
    }

    /// What is in progress, in the order of the list; `None` if that must be asked for.
    pub fn running(&self) -> Option<Vec<Todo>> {
        let candidates = self.running.as_ref()?.union(&self.put).filter_map(|uid| self.todos.get(uid));
        let mut out: Vec<Todo> = candidates.filter(|todo| is_running(todo)).cloned().collect();
        out.sort_by_key(ListMark::of);
        Some(out)
    }

    /// Ready todos were fetched.
    pub fn see_ready(&mut self, window: ReadyWindow) {
        self.ready = Some(window);
    }

    /// Puts what a footprint asks for into the slice. Returns false, and leaves the slice alone, if something must be asked
    /// for: also where nothing is known of a todo, because there may be none.
    pub fn load(&self, footprint: &Footprint, into: &mut Plan) -> bool {
        let Footprint { ids, todos, dependents, running, all_running, first, dangling, revisions, all } = footprint;
        let asks_more = *all || *first || !(ids.is_empty() && dangling.is_empty() && revisions.is_empty());
        if asks_more {
            return false;
        }
        let mut found: BTreeSet<Uid> = todos.clone();
        if *all_running || !running.is_empty() {
            let Some(all) = self.running() else { return false };
            let is_asked_for = |todo: &&Todo| *all_running || running.contains(&todo.owner);
            found.extend(all.iter().filter(is_asked_for).map(|todo| todo.uid));
        }
        for todo in dependents {
            match self.dependents.get(todo) {
                Some(dependents) => found.extend(dependents),
                None => return false,
            }
        }
        if !found.iter().all(|uid| self.todos.contains_key(uid)) {
            return false;
        }
        for todo in found.iter().filter_map(|uid| self.todos.get(uid)) {
            into.put(todo.clone());
        }
        into.mark_loaded(footprint.clone());
        true
    }

    /// What is ready at `now`, best first.
    pub fn ready(&mut self, now: i64, after: Option<ReadyMark>, limit: usize) -> ReadyLookup {
        if self.is_off {
            return ReadyLookup::Unknown;
        }
        let Some(window) = self.ready.as_mut().filter(|window| (window.from..=window.until).contains(&now)) else {
            return ReadyLookup::Unknown;
        };
        let is_seen = |todo: &&Todo| {
            let mark = ReadyMark::of(todo);
            todo.is_ready(now) && after.is_none_or(|after| mark > after) && window.end.is_none_or(|end| mark <= end)
        };
        let candidates = window.todos.union(&self.put).filter_map(|uid| self.todos.get(uid));
        let mut out: Vec<&Todo> = candidates.filter(is_seen).collect();
        out.sort_by_key(|todo| ReadyMark::of(todo));
        out.truncate(limit);
        // Those that come before the last one found, or all until there are enough.
        let before = out.get(limit.saturating_sub(1)).map(|todo| ReadyMark::of(todo));
        let comes_before = |mark: &ReadyMark| before.is_none_or(|before| *mark < before);
        if limit > 0 && window.unread.front().is_some_and(|(mark, _)| comes_before(mark)) {
            let mut rows = Vec::new();
            while rows.len() < limit
                && let Some((mark, row)) = window.unread.pop_front_if(|(mark, _)| comes_before(mark))
            {
                window.todos.insert(mark.uid);
                // What was read since, or put, is not older.
                if !self.todos.contains_key(&mark.uid) {
                    rows.push(row);
                }
            }
            return ReadyLookup::Unread(rows);
        }
        if out.len() < limit && window.end.is_some() {
            return ReadyLookup::Unknown;
        }
        ReadyLookup::Todos(out.into_iter().cloned().collect())
    }
}

fn is_running(todo: &Todo) -> bool {
    queue(todo) == 3
}

/// The question for todos in progress: one more than is remembered.
pub fn ask_running(plan: PlanId) -> Statement {
    ask!("read todos", RUNNING, plan.0, count(RUNNING_MOST + 1))
}

/// The questions for all dependents of the todos that a footprint names.
pub fn ask_dependents(plan: PlanId, of: &Footprint) -> Vec<Statement> {
    let ask = |sql, value| Statement { params: vec![plan.0.into(), value], ..ask!("read todos", sql) };
    let mut out = Vec::new();
    if !of.ids.is_empty() {
        out.push(ask(DEPENDENTS_OF_IDS, load::keys(&of.ids)));
    }
    if !of.todos.is_empty() {
        out.push(ask(DEPENDENTS_OF_UIDS, SqlValue::uids(&of.todos)));
    }
    out
}
