-- Schema 1.3: open todos are found by what they say. `said` is a number made of the content; it is right in a plan whose
-- `said_revision` is its revision. A program that does not know it moves only the revision: the next one that does writes
-- the numbers again.

ALTER TABLE todo ADD COLUMN said INTEGER;
ALTER TABLE plan ADD COLUMN said_revision INTEGER NOT NULL DEFAULT 0;

CREATE INDEX todo_said ON todo (plan, said) WHERE removed IS NULL;
