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
CREATE TABLE answer (
    plan INTEGER NOT NULL REFERENCES plan (id),
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (plan, key)
) STRICT;
CREATE INDEX answer_at ON answer (at);
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
CREATE TABLE batch (
    plan INTEGER NOT NULL REFERENCES plan (id),
    owner TEXT NOT NULL,
    at INTEGER NOT NULL,
    todos TEXT NOT NULL,
    PRIMARY KEY (plan, owner)
) STRICT, WITHOUT ROWID;
CREATE TABLE checkpoint (
    plan INTEGER NOT NULL REFERENCES plan (id),
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (plan, id)
) STRICT;
CREATE TABLE commit_counter (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    commits INTEGER NOT NULL,
    store TEXT NOT NULL
) STRICT;
CREATE TABLE completed_files (
    seq INTEGER PRIMARY KEY,
    plan INTEGER NOT NULL REFERENCES plan (id),
    todo INTEGER NOT NULL,
    at INTEGER NOT NULL,
    blobs TEXT NOT NULL,
    UNIQUE (plan, todo)
) STRICT;
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
CREATE TABLE dangling (
    plan INTEGER NOT NULL REFERENCES plan (id),
    id TEXT NOT NULL,
    dependent INTEGER NOT NULL,
    PRIMARY KEY (plan, id, dependent)
) STRICT, WITHOUT ROWID;
CREATE TABLE decision (
    host TEXT NOT NULL,
    subagent TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (host, subagent, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE edge (
    plan INTEGER NOT NULL REFERENCES plan (id),
    dep INTEGER NOT NULL,
    dependent INTEGER NOT NULL,
    PRIMARY KEY (plan, dep, dependent)
) STRICT, WITHOUT ROWID;
CREATE TABLE event (
    plan INTEGER NOT NULL REFERENCES plan (id),
    revision INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    by TEXT NOT NULL,
    uid INTEGER,
    patch TEXT NOT NULL, owner TEXT, undoes INTEGER,
    PRIMARY KEY (plan, revision, seq)
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
    at INTEGER NOT NULL, again INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (plan, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_run ON ledger (plan, run) WHERE run IS NOT NULL;
CREATE INDEX ledger_todo ON ledger (plan, uid, attempt);
CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    store TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE mirrored (
    plan INTEGER PRIMARY KEY REFERENCES plan (id),
    todos TEXT NOT NULL
) STRICT;
CREATE TABLE note (
    plan INTEGER NOT NULL REFERENCES plan (id),
    todo INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (plan, todo, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE offer (
    plan INTEGER NOT NULL REFERENCES plan (id),
    owner TEXT NOT NULL,
    todo INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (plan, owner)
) STRICT, WITHOUT ROWID;
CREATE TABLE plan (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    archived INTEGER,
    revision INTEGER NOT NULL,
    row TEXT NOT NULL
, pruned INTEGER NOT NULL DEFAULT 0, said_revision INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE plan_file (
    plan INTEGER PRIMARY KEY REFERENCES plan (id),
    body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX plan_name ON plan (name) WHERE archived IS NULL;
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
CREATE TABLE reader (
    plan INTEGER NOT NULL REFERENCES plan (id),
    name TEXT NOT NULL,
    revision INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (plan, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE run (
    plan INTEGER NOT NULL REFERENCES plan (id),
    id INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    body TEXT NOT NULL,
    PRIMARY KEY (plan, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE runner (
    plan INTEGER PRIMARY KEY REFERENCES plan (id),
    holder TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    until INTEGER
) STRICT;
CREATE TABLE seat (
    plan INTEGER NOT NULL REFERENCES plan (id),
    run INTEGER NOT NULL,
    n INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (plan, run, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE session (
    host TEXT NOT NULL,
    subagent TEXT NOT NULL,
    plan INTEGER REFERENCES plan (id),
    seen_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (host, subagent)
) STRICT;
CREATE TABLE todo (
    plan INTEGER NOT NULL REFERENCES plan (id),
    uid INTEGER NOT NULL,
    id TEXT NOT NULL,
    position INTEGER NOT NULL,
    status TEXT NOT NULL,
    unmet INTEGER NOT NULL,
    level INTEGER NOT NULL,
    pull INTEGER NOT NULL,
    effective INTEGER NOT NULL,
    held_until INTEGER,
    owner TEXT,
    lease_until INTEGER,
    removed INTEGER,
    updated_at INTEGER NOT NULL,
    body TEXT NOT NULL, said INTEGER, notes INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (plan, uid)
) STRICT;
CREATE UNIQUE INDEX todo_id ON todo (plan, id) WHERE removed IS NULL;
CREATE INDEX todo_lease ON todo (plan, lease_until)
    WHERE removed IS NULL AND status = 'in_progress' AND lease_until IS NOT NULL;
CREATE INDEX todo_open ON todo (plan, position, uid) WHERE removed IS NULL AND status IN ('pending', 'in_progress');
CREATE INDEX todo_position ON todo (plan, position, uid) WHERE removed IS NULL;
CREATE INDEX todo_ready ON todo (plan, effective, position, uid)
    WHERE removed IS NULL AND status = 'pending' AND unmet = 0 AND held_until IS NULL;
CREATE INDEX todo_running ON todo (plan, owner) WHERE removed IS NULL AND status = 'in_progress';
CREATE INDEX todo_said ON todo (plan, said) WHERE removed IS NULL;
CREATE INDEX todo_timer ON todo (plan, held_until)
    WHERE removed IS NULL AND status = 'pending' AND unmet = 0 AND held_until IS NOT NULL;
CREATE TABLE worker (
    name TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    until INTEGER,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE worktree_plan (
    worktree TEXT PRIMARY KEY,
    plan INTEGER NOT NULL REFERENCES plan (id)
) STRICT, WITHOUT ROWID;
