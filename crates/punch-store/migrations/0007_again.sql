-- Schema 2.1: of the tokens that were read, those that the context held already. They cost, but say nothing about how much
-- of a context a todo takes. A minor: who does not know the column leaves it at nothing.

ALTER TABLE ledger ADD COLUMN again INTEGER NOT NULL DEFAULT 0;
