-- Schema 2.2: two indexes less. Every report of a host wrote into them, and reading the schema cost each command their
-- part; what they were for happens once in a conversation. A minor: who expects them only takes longer.

DROP INDEX session_seen;
DROP INDEX decision_at;
