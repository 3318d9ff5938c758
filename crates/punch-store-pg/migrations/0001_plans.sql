CREATE TABLE punch.meta (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    store text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    major integer NOT NULL,
    minor integer NOT NULL
);
CREATE TABLE punch.project (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    identity text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL
);
-- Every write of a plan locks and updates its row: room for new versions on the same page keeps its indexes alone.
CREATE TABLE punch.plan (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project bigint NOT NULL REFERENCES punch.project,
    name text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    archived bigint,
    revision bigint NOT NULL DEFAULT 0,
    pruned bigint NOT NULL DEFAULT 0,
    writes bigint NOT NULL DEFAULT 1,
    receipt bigint NOT NULL DEFAULT 0,
    body text NOT NULL
) WITH (fillfactor = 40, autovacuum_vacuum_threshold = 50, autovacuum_vacuum_scale_factor = 0);
CREATE UNIQUE INDEX plan_name ON punch.plan (project, name) WHERE archived IS NULL;
CREATE INDEX plan_project ON punch.plan (project, id);
-- `queue` stands for six conditions: -2 failed, -1 closed or removed, 0 waits for others, 1 ready, 2 held with nothing
-- unmet, 3 in progress. A column in the condition of an index counts as indexed, and then no update of it is cheap.
CREATE TABLE punch.todo (
    plan bigint NOT NULL,
    uid bigint NOT NULL,
    pos bigint NOT NULL,
    removed bigint,
    updated_at bigint NOT NULL,
    lease_until bigint,
    held_until bigint,
    unmet bigint NOT NULL,
    level bigint NOT NULL,
    said integer NOT NULL,
    queue smallint NOT NULL,
    effective smallint NOT NULL,
    pull smallint NOT NULL,
    id text COLLATE "C" NOT NULL,
    owner text COLLATE "C",
    body text NOT NULL,
    PRIMARY KEY (plan, uid)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_limit = 2000);
CREATE UNIQUE INDEX todo_id ON punch.todo (plan, id) WHERE removed IS NULL;
CREATE INDEX todo_queue ON punch.todo (plan, queue, effective, pos, uid) WHERE queue > 0;
CREATE INDEX todo_lease ON punch.todo (plan, lease_until) WHERE queue = 3;
CREATE INDEX todo_timer ON punch.todo (plan, held_until) WHERE queue = 2;
CREATE INDEX todo_open ON punch.todo (plan, pos, uid) WHERE queue >= 0;
CREATE INDEX todo_position ON punch.todo (plan, pos, uid) WHERE removed IS NULL;
CREATE INDEX todo_said ON punch.todo (plan, said) WHERE removed IS NULL;
CREATE TABLE punch.edge (
    plan bigint NOT NULL,
    dep bigint NOT NULL,
    dependent bigint NOT NULL,
    PRIMARY KEY (plan, dep, dependent)
);
CREATE TABLE punch.dangling (
    plan bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    dependent bigint NOT NULL,
    PRIMARY KEY (plan, id, dependent)
);
CREATE TABLE punch.event (
    plan bigint NOT NULL,
    revision bigint NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    by text COLLATE "C" NOT NULL,
    owner text COLLATE "C",
    undoes bigint,
    uid bigint,
    patch text NOT NULL,
    PRIMARY KEY (plan, revision, seq)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE TABLE punch.baseline (plan bigint PRIMARY KEY, body text NOT NULL);
CREATE TABLE punch.baseline_todo (
    plan bigint NOT NULL,
    uid bigint NOT NULL,
    updated_at bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (plan, uid)
);
CREATE TABLE punch.answer (
    plan bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (plan, key)
);
CREATE INDEX answer_at ON punch.answer (at);
CREATE TABLE punch.checkpoint (
    plan bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (plan, id)
);
CREATE TABLE punch.run (
    plan bigint NOT NULL,
    id bigint NOT NULL,
    started_at bigint NOT NULL,
    ended_at bigint,
    body text NOT NULL,
    PRIMARY KEY (plan, id)
);
CREATE TABLE punch.ledger (
    plan bigint NOT NULL,
    seq bigint NOT NULL,
    uid bigint NOT NULL,
    attempt bigint NOT NULL,
    run bigint,
    agent text NOT NULL,
    subagent text,
    tokens_in bigint NOT NULL,
    tokens_out bigint NOT NULL,
    again bigint NOT NULL,
    cost bigint,
    ms bigint NOT NULL,
    turns bigint NOT NULL,
    estimated boolean NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (plan, seq)
);
CREATE INDEX ledger_todo ON punch.ledger (plan, uid, attempt);
CREATE INDEX ledger_run ON punch.ledger (plan, run) WHERE run IS NOT NULL;
CREATE TABLE punch.activity (
    plan bigint NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    source text,
    todo bigint,
    body text NOT NULL,
    PRIMARY KEY (plan, seq)
);
CREATE TABLE punch.question (
    plan bigint NOT NULL,
    id bigint NOT NULL,
    asked_at bigint NOT NULL,
    run bigint,
    seat bigint,
    session text,
    todo bigint,
    agent text NOT NULL,
    content text NOT NULL,
    options text NOT NULL,
    state text COLLATE "C" NOT NULL,
    settled_at bigint,
    answer text,
    by text,
    via text,
    reason text,
    taken_at bigint,
    PRIMARY KEY (plan, id)
);
CREATE INDEX question_open ON punch.question (plan, id) WHERE state = 'open';
CREATE TABLE punch.seat (
    plan bigint NOT NULL,
    run bigint NOT NULL,
    n bigint NOT NULL,
    at bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (plan, run, n)
);
CREATE TABLE punch.reader (
    plan bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (plan, name)
);
CREATE TABLE punch.runner (
    plan bigint PRIMARY KEY,
    holder text NOT NULL,
    epoch bigint NOT NULL,
    until bigint
);
CREATE TABLE punch.batch (
    plan bigint NOT NULL,
    owner text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    todos text NOT NULL,
    PRIMARY KEY (plan, owner)
);
CREATE TABLE punch.offer (
    plan bigint NOT NULL,
    owner text COLLATE "C" NOT NULL,
    todo bigint NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (plan, owner)
);
CREATE TABLE punch.mirrored (plan bigint PRIMARY KEY, todos text NOT NULL);
CREATE TABLE punch.completed_files (
    project bigint NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    plan bigint NOT NULL,
    todo bigint NOT NULL,
    at bigint NOT NULL,
    blobs text NOT NULL,
    PRIMARY KEY (plan, todo)
);
CREATE INDEX completed_files_seq ON punch.completed_files (project, seq);
-- What belongs to no plan: `plan` 0 in `control`.
CREATE TABLE punch.control (
    project bigint NOT NULL,
    plan bigint NOT NULL,
    run bigint NOT NULL,
    seat bigint NOT NULL,
    session text COLLATE "C" NOT NULL,
    wanted text COLLATE "C" NOT NULL,
    by text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (project, plan, run, seat, session)
);
CREATE TABLE punch.session (
    project bigint NOT NULL,
    host text COLLATE "C" NOT NULL,
    subagent text COLLATE "C" NOT NULL,
    plan bigint,
    seen_at bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (project, host, subagent)
) WITH (fillfactor = 70);
CREATE TABLE punch.decision (
    project bigint NOT NULL,
    host text COLLATE "C" NOT NULL,
    subagent text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (project, host, subagent, seq)
);
CREATE INDEX decision_at ON punch.decision (project, at);
CREATE TABLE punch.expected_call (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project bigint NOT NULL,
    host text COLLATE "C" NOT NULL,
    subagent text COLLATE "C" NOT NULL,
    plan bigint NOT NULL,
    call text,
    fingerprint text COLLATE "C" NOT NULL,
    at bigint NOT NULL
);
CREATE INDEX expected_call_project ON punch.expected_call (project, seq);
