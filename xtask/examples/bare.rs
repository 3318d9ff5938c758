//! The least that a command with arguments and a database can cost: clap, the bundled SQLite, one statement.
//! `cargo xtask bench cli` measures `punch` against it.

use std::io::Write;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use rusqlite::Connection;

/// A todo list with nothing but a list.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The database
    #[arg(long)]
    database: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a table of this many rows
    Make {
        /// How many
        rows: u32,
    },
    /// Print one row, found by an index
    Query {
        /// Its name
        id: String,
    },
    /// Change one row so that it survives power loss
    Update {
        /// Its name
        id: String,
    },
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let mut conn = Connection::open(&arguments.database)?;
    match arguments.command {
        Command::Make { rows } => make(&mut conn, rows)?,
        Command::Query { id } => {
            let content: String =
                conn.query_row("SELECT content FROM todo WHERE id = ?1", [id], |row| row.get("content"))?;
            writeln!(std::io::stdout(), "{content}")?;
        }
        Command::Update { id } => {
            conn.pragma_update(None, "synchronous", "FULL")?;
            let changed = conn.execute("UPDATE todo SET status = status + 1 WHERE id = ?1", [id])?;
            writeln!(std::io::stdout(), "{changed}")?;
        }
    }
    Ok(())
}

fn make(conn: &mut Connection, rows: u32) -> rusqlite::Result<()> {
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    conn.execute_batch(
        "CREATE TABLE todo (uid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, content TEXT NOT NULL, \
         status INTEGER NOT NULL) STRICT",
    )?;
    let tx = conn.transaction()?;
    for n in 1..=rows {
        let insert = "INSERT INTO todo (id, content, status) VALUES (?1, ?2, 0)";
        tx.execute(insert, [format!("T-{n}"), format!("Todo number {n} of the plan")])?;
    }
    tx.commit()
}
