//! Reads todos from the rows of a query. Decoding a row takes longer than stepping to the next one, so the rows of a large
//! answer are decoded on other cores while SQLite steps. An answer of a few rows starts no thread.

use std::collections::VecDeque;
use std::num::NonZero;
use std::panic;
use std::sync::Arc;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

use punch_core::{Derived, Fields, Note, Todo, Uid};
use rusqlite::{Connection, Row, Rows};

use super::notes;
use crate::PlanId;

/// What [`read`] expects of a query, in this order.
pub(super) const COLUMNS: &str =
    "todo.uid, todo.updated_at, todo.lease_until, todo.unmet, todo.level, todo.pull, todo.body, todo.notes";

/// Rows at the beginning of an answer that are decoded at once.
const FIRST: usize = 1_000;
/// Rows after these that are decoded together.
const CHUNK: usize = 4_000;

/// Calls `each` with the todo of every row, in order. The inner error tells what is wrong with the content of a row.
pub(super) fn read<T: From<Todo> + Send>(
    conn: &Connection,
    plan: PlanId,
    mut rows: Rows<'_>,
    each: &mut dyn FnMut(T),
) -> rusqlite::Result<Result<(), String>> {
    for _ in 0..FIRST {
        let Some(row) = rows.next()? else { return Ok(Ok(())) };
        match Columns::of(conn, plan, row)?.todo(row.get_ref(6)?.as_str()?) {
            Ok(todo) => each(todo.into()),
            Err(why) => return Ok(Err(why)),
        }
    }
    let at_once = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let mut pending = VecDeque::new();
        loop {
            let chunk = Chunk::next(conn, plan, &mut rows)?;
            let is_last = chunk.rows.len() < CHUNK;
            pending.push_back(Decoding::start(scope, chunk));
            let room = if is_last { 0 } else { at_once };
            while pending.len() > room
                && let Some(oldest) = pending.pop_front()
            {
                match oldest.finish() {
                    Ok(todos) => todos.into_iter().for_each(&mut *each),
                    Err(why) => return Ok(Err(why)),
                }
            }
            if is_last {
                return Ok(Ok(()));
            }
        }
    })
}

/// A row without its body.
#[derive(Clone)]
struct Columns {
    uid: Uid,
    updated_at: i64,
    lease_until: Option<i64>,
    derived: Derived,
    notes: Vec<Note>,
}

impl Columns {
    fn of(conn: &Connection, plan: PlanId, row: &Row<'_>) -> rusqlite::Result<Self> {
        let uid = Uid(row.get::<_, i64>(0)?.cast_unsigned());
        Ok(Self {
            uid,
            updated_at: row.get(1)?,
            lease_until: row.get(2)?,
            derived: Derived { unmet: row.get(3)?, level: row.get(4)?, pull: row.get(5)? },
            notes: if row.get::<_, i64>(7)? > 0 { notes::read(conn, plan, uid)? } else { Vec::new() },
        })
    }

    fn todo(self, body: &str) -> Result<Todo, String> {
        let Self { uid, updated_at, lease_until, derived, mut notes } = self;
        let mut fields: Fields =
            serde_json::from_str(body).map_err(|e| format!("todo {} cannot be read: {e}", uid.0))?;
        if !notes.is_empty() {
            // What a program with an older schema added is in the body.
            notes.append(&mut fields.notes);
            fields.notes = notes;
        }
        Ok(Todo { uid, fields, updated_at, lease_until, derived })
    }
}

/// Rows that are decoded together.
struct Chunk {
    /// Each row, and where its body ends.
    rows: Vec<(Columns, usize)>,
    /// The bodies, one after the other.
    bodies: String,
}

impl Chunk {
    /// Takes the next rows; fewer than [`CHUNK`] if there are no more.
    fn next(conn: &Connection, plan: PlanId, rows: &mut Rows<'_>) -> rusqlite::Result<Self> {
        let mut out = Self { rows: Vec::with_capacity(CHUNK), bodies: String::new() };
        while out.rows.len() < CHUNK
            && let Some(row) = rows.next()?
        {
            out.bodies.push_str(row.get_ref(6)?.as_str()?);
            out.rows.push((Columns::of(conn, plan, row)?, out.bodies.len()));
        }
        Ok(out)
    }

    fn decode<T: From<Todo>>(&self) -> Result<Vec<T>, String> {
        let (mut out, mut start) = (Vec::with_capacity(self.rows.len()), 0);
        for (columns, end) in &self.rows {
            out.push(columns.clone().todo(&self.bodies[start..*end])?.into());
            start = *end;
        }
        Ok(out)
    }
}

/// The todos of a chunk: on their way, or decoded already because the system has no thread to spare.
enum Decoding<'scope, T> {
    Running(ScopedJoinHandle<'scope, Result<Vec<T>, String>>),
    Done(Result<Vec<T>, String>),
}

impl<'scope, T: From<Todo> + Send + 'scope> Decoding<'scope, T> {
    fn start(scope: &'scope Scope<'scope, '_>, chunk: Chunk) -> Self {
        let chunk = Arc::new(chunk);
        let same = Arc::clone(&chunk);
        match Builder::new().spawn_scoped(scope, move || same.decode()) {
            Ok(thread) => Self::Running(thread),
            Err(_) => Self::Done(chunk.decode()),
        }
    }

    fn finish(self) -> Result<Vec<T>, String> {
        match self {
            Self::Running(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
            Self::Done(todos) => todos,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads todos 1 to `count` from made-up rows; every thousandth has a note in the table and one in its body.
    fn todos(count: usize, body: &str) -> Result<Vec<Todo>, String> {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(
            "CREATE TABLE note (plan, todo, seq, text, at, by); \
             INSERT INTO note WITH RECURSIVE n(n) AS (SELECT 1000 UNION ALL SELECT n + 1000 FROM n LIMIT 100) \
             SELECT 7, n, 0, 'from the table', 1, 'user' FROM n;",
        )
        .unwrap();
        let sql = format!(
            "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT {count}) \
             SELECT n, n + 1, iif(n % 2, n, NULL), 2, 3, 4, {body}, n % 1000 = 0 FROM n"
        );
        let mut statement = conn.prepare(&sql).unwrap();
        let mut out = Vec::new();
        let read = read(&conn, PlanId(7), statement.query([]).unwrap(), &mut |todo: Todo| out.push(todo)).unwrap();
        read.map(|()| out)
    }

    #[test]
    fn many_rows_are_read_in_order_with_their_notes() {
        for count in [0, 1, FIRST, FIRST + 1, FIRST + CHUNK, FIRST + 9 * CHUNK + 1] {
            let body = "'{\"id\":\"T-' || n || '\"' || iif(n % 1000, '', \
                        ',\"notes\":[{\"text\":\"from the body\",\"at\":2,\"by\":\"user\"}]') || '}'";
            let todos = todos(count, body).unwrap();
            assert_eq!(todos.len(), count);
            for (todo, number) in todos.iter().zip(1..) {
                let notes: Vec<&str> = todo.notes.iter().map(|note| note.text.as_str()).collect();
                let expected: &[&str] = if number % 1000 == 0 { &["from the table", "from the body"] } else { &[] };
                assert_eq!(notes, expected);
                assert_eq!((todo.uid, todo.id.clone()), (Uid(number), format!("T-{number}")));
                assert_eq!(todo.updated_at, number.cast_signed() + 1);
                assert_eq!(todo.lease_until, (number % 2 == 1).then_some(number.cast_signed()));
                assert_eq!(todo.derived, Derived { unmet: 2, level: 3, pull: 4 });
            }
        }
    }

    #[test]
    fn a_damaged_row_is_named_wherever_it_is() {
        for damaged in [1, FIRST, FIRST + CHUNK, FIRST + 5 * CHUNK + 7] {
            let error = todos(FIRST + 6 * CHUNK, &format!("iif(n = {damaged}, '{{', '{{}}')")).unwrap_err();
            assert!(error.starts_with(&format!("todo {damaged} cannot be read: ")), "{error}");
        }
    }
}
