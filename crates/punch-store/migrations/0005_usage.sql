-- Schema 1.4: what attempts at todos took. Sums, not events: an attempt has one row.

CREATE TABLE usage (
    plan INTEGER NOT NULL REFERENCES plan (id),
    uid INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    ms INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (plan, uid, attempt)
) STRICT, WITHOUT ROWID;
