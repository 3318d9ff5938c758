-- Schema 1.1: workers on many machines. A row is a name; `epoch` counts the processes that had it.
CREATE TABLE punch.worker (
    project bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    epoch bigint NOT NULL,
    seen_at bigint NOT NULL,
    until bigint,
    body text NOT NULL,
    PRIMARY KEY (project, name)
) WITH (fillfactor = 50);
