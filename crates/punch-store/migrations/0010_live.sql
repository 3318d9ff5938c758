-- Activity: what happens around a plan and is not a change of it. Numbers are never reused: the newest row always stays.
CREATE TABLE activity (
    plan INTEGER NOT NULL REFERENCES plan (id),
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    source TEXT,
    todo INTEGER,
    body TEXT NOT NULL,
    PRIMARY KEY (plan, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE question (
    plan INTEGER NOT NULL REFERENCES plan (id),
    id INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    run INTEGER,
    seat INTEGER,
    session TEXT,
    todo INTEGER,
    agent TEXT NOT NULL,
    text TEXT NOT NULL,
    options TEXT NOT NULL,
    state TEXT NOT NULL,
    settled_at INTEGER,
    answer TEXT,
    by TEXT,
    via TEXT,
    reason TEXT,
    taken_at INTEGER,
    PRIMARY KEY (plan, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX question_open ON question (plan, id) WHERE state = 'open';

-- What the user wants of a run (seat is -1), of one of its seats, or of a session (plan and run are 0). The empty
-- session stands for all of them.
CREATE TABLE control (
    plan INTEGER NOT NULL,
    run INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    session TEXT NOT NULL,
    wanted TEXT NOT NULL,
    by TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (plan, run, seat, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE seat (
    plan INTEGER NOT NULL REFERENCES plan (id),
    run INTEGER NOT NULL,
    n INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (plan, run, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE reader (
    plan INTEGER NOT NULL REFERENCES plan (id),
    name TEXT NOT NULL,
    revision INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (plan, name)
) STRICT, WITHOUT ROWID;

-- The row of a released lease stays, so that its epoch is never given out again.
CREATE TABLE runner (
    plan INTEGER PRIMARY KEY REFERENCES plan (id),
    holder TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    until INTEGER
) STRICT;

-- What only this clone of the repository knows: the plan chosen for a worktree, and the plan file.
CREATE TABLE worktree_plan (
    worktree TEXT PRIMARY KEY,
    plan INTEGER NOT NULL REFERENCES plan (id)
) STRICT, WITHOUT ROWID;
CREATE TABLE plan_file (
    plan INTEGER PRIMARY KEY REFERENCES plan (id),
    body TEXT NOT NULL
) STRICT;

CREATE TABLE batch (
    plan INTEGER NOT NULL REFERENCES plan (id),
    owner TEXT NOT NULL,
    at INTEGER NOT NULL,
    todos TEXT NOT NULL,
    PRIMARY KEY (plan, owner)
) STRICT, WITHOUT ROWID;
CREATE TABLE mirrored (
    plan INTEGER PRIMARY KEY REFERENCES plan (id),
    todos TEXT NOT NULL
) STRICT;
CREATE TABLE completed_files (
    seq INTEGER PRIMARY KEY,
    plan INTEGER NOT NULL REFERENCES plan (id),
    todo INTEGER NOT NULL,
    at INTEGER NOT NULL,
    blobs TEXT NOT NULL,
    UNIQUE (plan, todo)
) STRICT;
CREATE TABLE offer (
    plan INTEGER NOT NULL REFERENCES plan (id),
    owner TEXT NOT NULL,
    todo INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (plan, owner)
) STRICT, WITHOUT ROWID;
CREATE TABLE expected_call (
    seq INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    subagent TEXT NOT NULL,
    plan INTEGER NOT NULL,
    call TEXT,
    fingerprint TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE TABLE commit_counter (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    commits INTEGER NOT NULL,
    store TEXT NOT NULL
) STRICT;

-- All of these were rows of one table of names and values. Rows that cannot be read are left behind, and so are the
-- offers, which last five minutes.
INSERT OR IGNORE INTO worktree_plan (worktree, plan)
SELECT substr(name, 10), CAST(value AS INTEGER) FROM setting
WHERE name GLOB 'plan-use:*' AND CAST(value AS INTEGER) IN (SELECT id FROM plan);

INSERT OR IGNORE INTO plan_file (plan, body)
SELECT CAST(substr(name, 11) AS INTEGER), value FROM setting
WHERE name GLOB 'plan-file:*' AND CAST(substr(name, 11) AS INTEGER) IN (SELECT id FROM plan);

INSERT OR IGNORE INTO batch (plan, owner, at, todos)
SELECT CAST(substr(name, 9) AS INTEGER), given.value ->> 'who', given.key, given.value ->> 'todos'
FROM setting, json_each(CASE WHEN json_valid(setting.value) THEN setting.value ELSE '[]' END) AS given
WHERE name GLOB 'batches:*' AND CAST(substr(name, 9) AS INTEGER) IN (SELECT id FROM plan);

INSERT OR IGNORE INTO mirrored (plan, todos)
SELECT CAST(substr(name, 10) AS INTEGER), '[' || replace(trim(value), ' ', ',') || ']' FROM setting
WHERE name GLOB 'mirrored:*' AND json_valid('[' || replace(trim(value), ' ', ',') || ']')
    AND CAST(substr(name, 10) AS INTEGER) IN (SELECT id FROM plan);

INSERT OR IGNORE INTO completed_files (plan, todo, at, blobs)
SELECT CAST(substr(name, 7) AS INTEGER), CAST(substr(name, 7 + instr(substr(name, 7), ':')) AS INTEGER),
       CAST(value ->> 'at' AS INTEGER), value ->> 'blobs'
FROM setting
WHERE name GLOB 'files:*:*' AND json_valid(value) AND CAST(substr(name, 7) AS INTEGER) IN (SELECT id FROM plan)
ORDER BY CAST(value ->> 'at' AS INTEGER);

INSERT OR IGNORE INTO expected_call (host, subagent, plan, call, fingerprint, at)
SELECT call.value ->> 'host', ifnull(call.value ->> 'subagent', ''), CAST(call.value ->> 'plan' AS INTEGER),
       call.value ->> 'id', call.value ->> 'fingerprint', CAST(call.value ->> 'at' AS INTEGER)
FROM setting, json_each(CASE WHEN json_valid(setting.value) THEN setting.value ELSE '[]' END) AS call
WHERE name = 'expected_calls';

INSERT OR IGNORE INTO control (plan, run, seat, session, wanted, by, at)
SELECT 0, 0, iif(name = 'keep-going', -1, 0), substr(name, 12), iif(value = 'off', 'stop', 'pause'), 'user', 0
FROM setting WHERE (name = 'keep-going' OR name GLOB 'keep-going:*') AND value IN ('off', 'paused');

INSERT OR IGNORE INTO commit_counter (one, commits, store)
SELECT 1, CAST(value AS INTEGER), substr(value, instr(value, ' ') + 1) FROM setting
WHERE name = 'store.commits' AND instr(value, ' ') > 0;

-- Open todos without content are not open work: the counters of each plan know them from now on.
UPDATE plan SET row = json_set(row, '$.counts.blank', blank.n)
FROM (
    SELECT todo.plan AS plan, count(*) AS n FROM todo
    WHERE removed IS NULL AND status IN ('pending', 'in_progress')
        AND trim(
            CASE WHEN json_valid(body) THEN coalesce(json_extract(body, '$.content'), '') ELSE 'damaged' END,
            ' ' || char(9, 10, 11, 12, 13)
        ) = ''
    GROUP BY todo.plan
) AS blank
WHERE plan.id = blank.plan AND json_valid(row);

DROP TABLE setting;
