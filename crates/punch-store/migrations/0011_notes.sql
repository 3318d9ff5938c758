-- Schema 3.1: notes have a table of their own, so that adding one does not write all others again. A todo counts its notes in
-- a column; its body no longer has them. A program that does not know the table leaves notes in the body, where they are
-- found and follow those in the table.
CREATE TABLE note (
    plan INTEGER NOT NULL REFERENCES plan (id),
    todo INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (plan, todo, seq)
) STRICT, WITHOUT ROWID;

ALTER TABLE todo ADD COLUMN notes INTEGER NOT NULL DEFAULT 0;

-- Bodies that cannot be read stay as they are: `punch doctor` reports them.
INSERT INTO note (plan, todo, seq, at, by, text)
SELECT todo.plan, todo.uid, note.key, note.value ->> 'at', note.value ->> 'by', note.value ->> 'text'
FROM todo, json_each(CASE WHEN json_valid(todo.body) THEN todo.body ELSE '{}' END, '$.notes') AS note;

UPDATE todo SET notes = json_array_length(body, '$.notes'), body = json_remove(body, '$.notes')
WHERE json_valid(body) AND json_type(body, '$.notes') = 'array';
