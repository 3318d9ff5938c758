-- Schema 1.2: what was decided when an agent wanted to stop, and what else its host reported. The newest of each
-- session are kept.

CREATE TABLE decision (
    host TEXT NOT NULL,
    subagent TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (host, subagent, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX decision_at ON decision (at);
