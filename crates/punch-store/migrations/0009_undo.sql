-- Schema 2.3: events record the session that wrote them and, for an undo, the revision that it undoes. A minor: a program
-- that does not know the columns leaves them empty. Such events belong to everybody who signs alike, and such undos are
-- paired with the changes before them like brackets.

ALTER TABLE event ADD COLUMN owner TEXT;
ALTER TABLE event ADD COLUMN undoes INTEGER;
