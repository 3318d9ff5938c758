-- Schema 1.1: events can be pruned. What folding starts from instead of an empty plan.

ALTER TABLE plan ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;

CREATE TABLE baseline (
    plan INTEGER PRIMARY KEY REFERENCES plan (id),
    row TEXT NOT NULL
) STRICT;

CREATE TABLE baseline_todo (
    plan INTEGER NOT NULL REFERENCES plan (id),
    uid INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (plan, uid)
) STRICT;
