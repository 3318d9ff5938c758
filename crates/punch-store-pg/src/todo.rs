//! A todo as a row: the body contains everything, and the other columns repeat what queries need. Rows are written in
//! sets, one statement for all of a kind.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use crate::answer::SqlRow;
use punch_core::{Dep, Derived, Fields, Status, Todo, Uid};
use punch_store::StoreError;
use punch_store::backend::{EveryField, content_number, held_until, keep_unknown, live_deps};

use crate::escape;
use crate::fail;
use crate::link::{Statement, ask};
use crate::load::BY_UIDS;
use crate::value::{Columns, SqlValue};
use crate::view::PgTransaction;

/// What [`decode`] reads, in its order, of a table that is called `t`.
macro_rules! columns {
    () => {
        "t.uid, t.updated_at, t.lease_until, t.unmet, t.level, t.pull::int8, t.body"
    };
}
pub(crate) use columns;

/// Rows of one statement.
const CHUNK: usize = 5_000;

/// What a write must know of the stored version of a todo.
#[derive(Clone, Debug)]
pub struct StoredVersion {
    id: String,
    is_live: bool,
    deps: Vec<Dep>,
    still: StillColumns,
    /// The stored text, where it may hold more than this program knows.
    body: Option<String>,
}

impl StoredVersion {
    pub fn of(todo: &Todo, body: Option<String>) -> Self {
        let (deps, still) = (live_deps(todo).to_vec(), StillColumns::of(todo));
        Self { id: todo.id.clone(), is_live: todo.is_live(), deps, still, body }
    }

    /// Whether a row says what is stored, but for the columns that [`UPDATE_STATE`] writes.
    fn is_restated(&self, todo: &Todo) -> bool {
        self.id == todo.id && self.still == StillColumns::of(todo)
    }
}

/// Columns that stay as they are when a todo is claimed, completed or unblocked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StillColumns {
    position: i64,
    removed: Option<i64>,
    held_until: Option<i64>,
    said: i32,
}

impl StillColumns {
    fn of(todo: &Todo) -> Self {
        Self {
            position: todo.position,
            removed: todo.removed,
            held_until: held_until(todo),
            said: content_number(&todo.content),
        }
    }
}

/// Reads a row that was selected with [`columns`]. The inner error says what is wrong with its content.
pub fn decode(row: &SqlRow) -> Result<Result<(Todo, String), String>, crate::answer::WireError> {
    let uid = Uid(row.int(0)?.cast_unsigned());
    let body = row.text(6)?;
    let fields: Fields = match serde_json::from_str(&body) {
        Ok(fields) => fields,
        Err(e) => return Ok(Err(format!("todo {} cannot be read: {e}", uid.0))),
    };
    let derived = Derived { unmet: row.small(3)?, level: row.small(4)?, pull: u8::try_from(row.int(5)?).unwrap_or(0) };
    Ok(Ok((Todo { uid, fields, updated_at: row.int(1)?, lease_until: row.maybe_int(2)?, derived }, body)))
}

/// Which of the queues a todo stands in, see the schema.
pub fn queue(todo: &Todo) -> i64 {
    match todo.status {
        _ if !todo.is_live() => -1,
        Status::Failed => -2,
        Status::Completed | Status::Cancelled => -1,
        Status::InProgress => 3,
        Status::Pending if todo.derived.unmet > 0 => 0,
        Status::Pending if todo.hold.is_some() => 2,
        Status::Pending => 1,
    }
}

impl PgTransaction<'_> {
    /// Reads todos.
    pub fn todos(&self, rows: &[SqlRow]) -> Result<Vec<Todo>, StoreError> {
        let label = self.store.label();
        let mut out = Vec::with_capacity(rows.len());
        for row in rows {
            let decoded = decode(row).map_err(|e| fail::sql(label, "read todos", &e))?;
            let (todo, body) = decoded.map_err(|why| fail::damaged(label, why))?;
            self.note(&todo, &body);
            out.push(todo);
        }
        Ok(out)
    }

    /// Asks for todos.
    pub fn ask_todos(&self, ask: Statement) -> Result<Vec<Todo>, StoreError> {
        let rows = self.ask(ask)?;
        self.todos(&rows)
    }
}

/// Gives up ids that change hands before they are taken.
const RELEASE: &str = "UPDATE punch.todo SET removed = 0 WHERE plan = $1 AND uid = ANY($2)";

/// Rows of `n` with the places of their todos. Each is found by its key, whatever the server believes about the table.
macro_rules! placed {
    ($arrays:literal, $columns:literal) => {
        concat!(
            " FROM (SELECT n.*, f.place FROM unnest(",
            $arrays,
            ") AS n (",
            $columns,
            ") CROSS JOIN LATERAL (SELECT f.ctid AS place FROM punch.todo f WHERE f.plan = $1 AND f.uid = n.uid OFFSET 0) f \
             OFFSET 0) n WHERE t.ctid = n.place"
        )
    };
}

const UPDATE: &str = concat!(
    "UPDATE punch.todo t SET pos = n.pos, removed = n.removed, updated_at = n.updated_at, \
    lease_until = n.lease_until, held_until = n.held_until, unmet = n.unmet, level = n.level, said = n.said, \
    queue = n.queue, effective = n.effective, pull = n.pull, id = n.id, owner = n.owner, body = n.body",
    placed!(
        "$2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::int8[], $9::int8[], $10::int8[], \
         $11::int8[], $12::int8[], $13::int8[], $14::text[], $15::text[], $16::text[]",
        "uid, pos, removed, updated_at, lease_until, held_until, unmet, level, said, queue, effective, pull, id, owner, body"
    )
);

/// What changes when a todo is claimed, completed or unblocked.
const UPDATE_STATE: &str = concat!(
    "UPDATE punch.todo t SET updated_at = n.updated_at, lease_until = n.lease_until, unmet = n.unmet, level = n.level, \
     queue = n.queue, effective = n.effective, pull = n.pull, owner = n.owner, body = n.body",
    placed!(
        "$2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::int8[], $9::int8[], $10::text[], \
         $11::text[]",
        "uid, updated_at, lease_until, unmet, level, queue, effective, pull, owner, body"
    )
);

const INSERT: &str = "INSERT INTO punch.todo (plan, uid, pos, removed, updated_at, lease_until, held_until, unmet, level, \
    said, queue, effective, pull, id, owner, body) \
    SELECT $1, n.* FROM unnest($2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::int8[], \
    $9::int8[], $10::int8[], $11::int8[], $12::int8[], $13::int8[], $14::text[], $15::text[], $16::text[]) AS n";

/// Takes over rows to write. They leave with the next question or with the commit, see [`flush`].
pub fn put(view: &PgTransaction<'_>, rows: &[Todo], first_new: Uid) -> Result<(), StoreError> {
    let is_unknown =
        |uid: &Uid| *uid < first_new && view.stored(*uid).is_none() && view.unsent.borrow().todo(*uid).is_none();
    let unknown: Vec<Uid> = rows.iter().map(|todo| todo.uid).filter(is_unknown).collect();
    for chunk in unknown.chunks(CHUNK) {
        view.ask_todos(Statement {
            params: vec![view.plan.0.into(), SqlValue::uids(chunk)],
            ..ask!("read todos", BY_UIDS)
        })?;
    }
    let is_relinked = |todo: &Todo| match view.unsent.borrow().todo(todo.uid) {
        Some(before) => live_deps(before) != live_deps(todo),
        None => view.stored(todo.uid).map(|old| old.deps).unwrap_or_default() != live_deps(todo),
    };
    if rows.iter().any(is_relinked) {
        view.known.borrow_mut().relinked();
    }
    view.known.borrow_mut().put(rows);
    view.unsent.borrow_mut().put(rows);
    view.will_change(&[UPDATE]);
    Ok(())
}

/// Queues the rows of a transaction that were not sent yet; the inverse tables follow.
pub fn flush(view: &PgTransaction<'_>, rows: &[Todo]) -> Result<(), StoreError> {
    let plan = view.plan.0;
    let stored: HashMap<Uid, StoredVersion> =
        rows.iter().filter_map(|todo| view.stored(todo.uid).map(|stored| (todo.uid, stored))).collect();
    let old = |todo: &Todo| stored.get(&todo.uid);
    let moves = |todo: &&Todo| old(todo).is_some_and(|old| old.is_live && (old.id != todo.id || !todo.is_live()));
    let moving: Vec<Uid> = rows.iter().filter(moves).map(|todo| todo.uid).collect();
    if !moving.is_empty() {
        view.enqueue(Statement { params: vec![plan.into(), SqlValue::uids(&moving)], ..ask!("write todos", RELEASE) });
    }
    let (known, new): (Vec<&Todo>, Vec<&Todo>) = rows.iter().partition(|todo| old(todo).is_some());
    view.will_make(new.len());
    let is_restated = |todo: &&Todo| old(todo).is_some_and(|old| old.is_restated(todo));
    let (restated, changed): (Vec<&Todo>, Vec<&Todo>) = known.into_iter().partition(is_restated);
    for (sql, todos) in [(UPDATE, changed), (UPDATE_STATE, restated), (INSERT, new)] {
        for chunk in todos.chunks(CHUNK) {
            let params = if sql == UPDATE_STATE { state_params } else { params };
            view.enqueue(Statement { what: "write todos", sql, params: params(view, chunk, &stored)? });
        }
    }
    relink(view, rows, &stored);
    for todo in rows {
        // What a newer program wrote is kept in the row; it is read again if this todo is written again.
        view.note(todo, stored.get(&todo.uid).and_then(|old| old.body.as_deref()).unwrap_or("{}"));
    }
    Ok(())
}

/// Writes columns and edges of todos again; there are no edges of theirs.
pub fn rewrite(view: &PgTransaction<'_>, todos: &[Todo]) -> Result<(), StoreError> {
    let stored: HashMap<Uid, StoredVersion> =
        todos.iter().filter_map(|todo| view.stored(todo.uid).map(|stored| (todo.uid, stored))).collect();
    let all: Vec<&Todo> = todos.iter().collect();
    for chunk in all.chunks(CHUNK) {
        view.enqueue(Statement { what: "rebuild", sql: UPDATE, params: params(view, chunk, &stored)? });
    }
    relink(view, todos, &HashMap::new());
    Ok(())
}

fn bodies(
    view: &PgTransaction<'_>,
    todos: &[&Todo],
    stored: &HashMap<Uid, StoredVersion>,
) -> Result<SqlValue, StoreError> {
    let mut bodies = Vec::with_capacity(todos.len());
    for todo in todos {
        let old = stored.get(&todo.uid).and_then(|old| old.body.as_deref());
        let body = match old {
            Some(old) => keep_unknown(&todo.fields, old, &EveryField),
            None => serde_json::to_string(&todo.fields),
        };
        let body = body.map_err(|e| fail::failed(view.store.label(), format!("cannot write a todo: {e}")))?;
        bodies.push(Some(match escape::escape(&body) {
            Cow::Borrowed(_) => body,
            Cow::Owned(escaped) => escaped,
        }));
    }
    Ok(SqlValue::Texts(bodies))
}

fn ints(todos: &[&Todo], of: impl Fn(&Todo) -> Option<i64>) -> SqlValue {
    SqlValue::Ints(todos.iter().map(|todo| of(todo)).collect())
}

fn owners(todos: &[&Todo]) -> SqlValue {
    let owner = |todo: &&Todo| todo.owner.as_deref().map(|owner| escape::key(owner).into_owned());
    SqlValue::Texts(todos.iter().map(owner).collect())
}

/// Parameters of [`UPDATE_STATE`].
fn state_params(
    view: &PgTransaction<'_>,
    todos: &[&Todo],
    stored: &HashMap<Uid, StoredVersion>,
) -> Result<Vec<SqlValue>, StoreError> {
    Ok(vec![
        view.plan.0.into(),
        ints(todos, |todo| Some(todo.uid.0.cast_signed())),
        ints(todos, |todo| Some(todo.updated_at)),
        ints(todos, |todo| todo.lease_until),
        ints(todos, |todo| Some(todo.derived.unmet.into())),
        ints(todos, |todo| Some(todo.derived.level.into())),
        ints(todos, |todo| Some(queue(todo))),
        ints(todos, |todo| Some(todo.effective_priority().into())),
        ints(todos, |todo| Some(todo.derived.pull.into())),
        owners(todos),
        bodies(view, todos, stored)?,
    ])
}

/// Parameters of [`UPDATE`] and [`INSERT`].
fn params(
    view: &PgTransaction<'_>,
    todos: &[&Todo],
    stored: &HashMap<Uid, StoredVersion>,
) -> Result<Vec<SqlValue>, StoreError> {
    Ok(vec![
        view.plan.0.into(),
        ints(todos, |todo| Some(todo.uid.0.cast_signed())),
        ints(todos, |todo| Some(todo.position)),
        ints(todos, |todo| todo.removed),
        ints(todos, |todo| Some(todo.updated_at)),
        ints(todos, |todo| todo.lease_until),
        ints(todos, held_until),
        ints(todos, |todo| Some(todo.derived.unmet.into())),
        ints(todos, |todo| Some(todo.derived.level.into())),
        ints(todos, |todo| Some(content_number(&todo.content).into())),
        ints(todos, |todo| Some(queue(todo))),
        ints(todos, |todo| Some(todo.effective_priority().into())),
        ints(todos, |todo| Some(todo.derived.pull.into())),
        SqlValue::Texts(todos.iter().map(|todo| Some(escape::key(&todo.id).into_owned())).collect()),
        owners(todos),
        bodies(view, todos, stored)?,
    ])
}

/// Targets of dependencies, and ids of those that dangle.
type Targets<'a> = (BTreeSet<Uid>, BTreeSet<&'a str>);

fn targets(deps: &[Dep]) -> Targets<'_> {
    let dangling = deps.iter().filter_map(|dep| match dep {
        Dep::Dangling(id) => Some(id.as_str()),
        Dep::On(_) | Dep::Suspended(_) => None,
    });
    (deps.iter().filter_map(Dep::target).collect(), dangling.collect())
}

/// Brings the inverse tables from what they say to what the rows say.
fn relink(view: &PgTransaction<'_>, rows: &[Todo], stored: &HashMap<Uid, StoredVersion>) {
    let (mut cut, mut made) = (Pairs::default(), Pairs::default());
    for todo in rows {
        let before = stored.get(&todo.uid).map_or(&[][..], |old| &old.deps);
        let after = live_deps(todo);
        if before == after {
            continue;
        }
        let (before, after) = (targets(before), targets(after));
        cut.extend(todo.uid, before.0.difference(&after.0), before.1.difference(&after.1));
        made.extend(todo.uid, after.0.difference(&before.0), after.1.difference(&before.1));
    }
    cut.queue(view, CUT_EDGES, CUT_DANGLING);
    made.queue(view, MAKE_EDGES, MAKE_DANGLING);
}

const CUT_EDGES: &str = "DELETE FROM punch.edge e USING unnest($2::int8[], $3::int8[]) AS n (dep, dependent) \
                         WHERE e.plan = $1 AND e.dep = n.dep AND e.dependent = n.dependent";
const MAKE_EDGES: &str = "INSERT INTO punch.edge (plan, dep, dependent) SELECT $1, n.* FROM unnest($2::int8[], $3::int8[]) AS n \
                          ON CONFLICT DO NOTHING";
const CUT_DANGLING: &str = "DELETE FROM punch.dangling d USING unnest($2::text[], $3::int8[]) AS n (id, dependent) \
                            WHERE d.plan = $1 AND d.id = n.id AND d.dependent = n.dependent";
const MAKE_DANGLING: &str = "INSERT INTO punch.dangling (plan, id, dependent) \
                             SELECT $1, n.* FROM unnest($2::text[], $3::int8[]) AS n ON CONFLICT DO NOTHING";

/// Rows of the inverse tables.
#[derive(Default)]
struct Pairs {
    deps: Vec<Option<i64>>,
    dependents: Vec<Option<i64>>,
    ids: Vec<Option<String>>,
    waiting: Vec<Option<i64>>,
}

impl Pairs {
    fn extend<'a>(
        &mut self,
        dependent: Uid,
        deps: impl Iterator<Item = &'a Uid>,
        ids: impl Iterator<Item = &'a &'a str>,
    ) {
        let dependent = Some(dependent.0.cast_signed());
        for dep in deps {
            self.deps.push(Some(dep.0.cast_signed()));
            self.dependents.push(dependent);
        }
        for id in ids {
            self.ids.push(Some(escape::key(id).into_owned()));
            self.waiting.push(dependent);
        }
    }

    fn queue(self, view: &PgTransaction<'_>, edges: &'static str, dangling: &'static str) {
        let plan = SqlValue::from(view.plan.0);
        if !self.deps.is_empty() {
            let params = vec![plan.clone(), SqlValue::Ints(self.deps), SqlValue::Ints(self.dependents)];
            view.enqueue(Statement { what: "write edges", sql: edges, params });
        }
        if !self.ids.is_empty() {
            let params = vec![plan, SqlValue::Texts(self.ids), SqlValue::Ints(self.waiting)];
            view.enqueue(Statement { what: "write edges", sql: dangling, params });
        }
    }
}
