-- Schema 2.0: runs, and usage as a ledger that is only added to. The sums of before become its first entries.
-- A new major: a program that knows the old table would go on writing into it, and the meter would lose that.

CREATE TABLE run (
    plan INTEGER NOT NULL REFERENCES plan (id),
    id INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    body TEXT NOT NULL,
    PRIMARY KEY (plan, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger (
    plan INTEGER NOT NULL REFERENCES plan (id),
    seq INTEGER NOT NULL,
    uid INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    run INTEGER,
    agent TEXT NOT NULL,
    subagent TEXT,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    cost INTEGER,
    ms INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (plan, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX ledger_todo ON ledger (plan, uid, attempt);
CREATE INDEX ledger_run ON ledger (plan, run) WHERE run IS NOT NULL;

INSERT INTO ledger (plan, seq, uid, attempt, agent, tokens_in, tokens_out, ms, turns, estimated, at)
    SELECT plan, row_number() OVER (PARTITION BY plan ORDER BY at, uid, attempt), uid, attempt, '', tokens, 0, ms, 0, 0, at
    FROM usage;

DROP TABLE usage;
