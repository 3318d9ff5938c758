-- Schema 3.2: workers on many machines. A row is a name; `epoch` counts the processes that had it.
CREATE TABLE worker (
    name TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    until INTEGER,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
