-- What this ledger is: one row.
CREATE TABLE identity (
    repository TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Ledgers whose events are here; `own` ones were minted by this file, the newest of them records.
CREATE TABLE replica (
    id           INTEGER PRIMARY KEY,
    uid          BLOB    NOT NULL UNIQUE,
    own          INTEGER NOT NULL,
    last_number  INTEGER NOT NULL,
    last_lamport INTEGER NOT NULL,
    last_hash    BLOB    NOT NULL
) STRICT;

-- The history. Everything in a row but `seq` and `event_hash` comes from the recording replica.
CREATE TABLE event (
    seq          INTEGER PRIMARY KEY,
    event_id     BLOB    NOT NULL UNIQUE,
    replica      INTEGER NOT NULL REFERENCES replica (id),
    number       INTEGER NOT NULL,
    lamport      INTEGER NOT NULL,
    event_type   TEXT    NOT NULL,
    version      INTEGER NOT NULL,
    entity_type  TEXT    NOT NULL,
    entity_id    TEXT    NOT NULL,
    agent_id     TEXT    CHECK (agent_id <> ''),
    cause        BLOB    CHECK (length(cause) = 16),
    created_at   INTEGER NOT NULL,
    shared       TEXT    NOT NULL,
    local_hash   BLOB    CHECK (length(local_hash) = 32),
    replica_hash BLOB    NOT NULL,
    event_hash   BLOB    NOT NULL,
    UNIQUE (replica, number)
) STRICT;
CREATE INDEX event_agent ON event (agent_id, created_at);
CREATE INDEX event_cause ON event (cause) WHERE cause IS NOT NULL;

-- The part of a payload that never leaves the machine.
CREATE TABLE event_local (
    seq     INTEGER PRIMARY KEY REFERENCES event (seq),
    salt    BLOB NOT NULL,
    payload TEXT NOT NULL
) STRICT;

CREATE TRIGGER event_is_final BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'published history cannot be changed'); END;
CREATE TRIGGER event_is_kept BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'published history cannot be deleted'); END;
-- REPLACE deletes without firing delete triggers: an insert must never meet an existing row.
CREATE TRIGGER event_is_next BEFORE INSERT ON event
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM event)
  OR EXISTS (SELECT 1 FROM event WHERE event_id = NEW.event_id)
  OR EXISTS (SELECT 1 FROM event WHERE replica = NEW.replica AND number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'published history only grows at its end'); END;
CREATE TRIGGER event_local_is_final BEFORE UPDATE ON event_local
BEGIN SELECT RAISE(ABORT, 'published history cannot be changed'); END;
CREATE TRIGGER event_local_is_kept BEFORE DELETE ON event_local
BEGIN SELECT RAISE(ABORT, 'published history cannot be deleted'); END;
CREATE TRIGGER event_local_is_new BEFORE INSERT ON event_local
WHEN EXISTS (SELECT 1 FROM event_local WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'published history cannot be changed'); END;

-- Dictionaries: numbers for identities. They are no state, differ between ledgers, and stay.
-- kind 1 agent, 2 intent, 4 message.
CREATE TABLE aggregate (
    id   INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    uid  BLOB    NOT NULL,
    UNIQUE (kind, uid)
) STRICT;

-- Two intents, the one with the smaller uid is `low`. Apart, for there are many more of them.
CREATE TABLE pair (
    id      INTEGER PRIMARY KEY,
    low     INTEGER NOT NULL,
    high    INTEGER NOT NULL,
    later   INTEGER NOT NULL AS (max(low, high)),
    earlier INTEGER NOT NULL AS (min(low, high)),
    -- Most pairs are met when the later intent is published, and so lie together.
    UNIQUE (later, earlier)
) STRICT;
-- By the earlier one they lie anywhere: listed a block at a time, see ledger/blocks.rs.
CREATE TABLE pair_earlier (
    intent INTEGER NOT NULL,
    pair   INTEGER NOT NULL,
    PRIMARY KEY (intent, pair)
) STRICT, WITHOUT ROWID;
CREATE TABLE pair_earlier_open (
    intent INTEGER NOT NULL,
    pair   INTEGER NOT NULL,
    PRIMARY KEY (intent, pair)
) STRICT, WITHOUT ROWID;
-- The pairs of an intent, whichever side it is.
CREATE VIEW pair_of (intent, pair) AS
    SELECT later, id FROM pair
    UNION ALL SELECT intent, pair FROM pair_earlier
    UNION ALL SELECT intent, pair FROM pair_earlier_open;

CREATE TABLE scope (
    id   INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    full TEXT    NOT NULL,
    UNIQUE (kind, full)
) STRICT;

-- Which events touch an aggregate, and which a pair.
CREATE TABLE event_aggregate (
    aggregate INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    PRIMARY KEY (aggregate, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_pair (
    pair INTEGER NOT NULL,
    seq  INTEGER NOT NULL,
    PRIMARY KEY (pair, seq)
) STRICT, WITHOUT ROWID;

-- Projections: what follows from the events, by aggregate.
CREATE TABLE ineffective (
    seq INTEGER PRIMARY KEY,
    why TEXT NOT NULL
) STRICT;

CREATE TABLE agent (
    id            INTEGER PRIMARY KEY,
    name          TEXT    NOT NULL,
    model         TEXT,
    capabilities  TEXT    NOT NULL,
    worktree      TEXT,
    git_branch    TEXT,
    git_head      TEXT,
    status        INTEGER NOT NULL,
    registered_at INTEGER NOT NULL,
    replica       INTEGER NOT NULL
) STRICT;
CREATE INDEX agent_by_age ON agent (registered_at);
CREATE INDEX agent_by_name ON agent (name, worktree);

CREATE TABLE intent (
    id         INTEGER PRIMARY KEY,
    agent      INTEGER NOT NULL,
    task_id    BLOB    NOT NULL,
    task       TEXT    NOT NULL,
    summary    TEXT    NOT NULL,
    rationale  TEXT,
    depends_on TEXT    NOT NULL,
    metadata   TEXT    NOT NULL,
    status     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX intent_by_status ON intent (status, created_at);
CREATE INDEX intent_by_agent ON intent (agent, created_at);

CREATE INDEX intent_by_age ON intent (created_at);
CREATE INDEX intent_by_task ON intent (task_id);

-- Which intents an intent builds on, for those who ask what builds on it.
CREATE TABLE intent_dependency (
    dependency INTEGER NOT NULL,
    intent     INTEGER NOT NULL,
    PRIMARY KEY (dependency, intent)
) STRICT, WITHOUT ROWID;
CREATE INDEX intent_dependency_intent ON intent_dependency (intent);

CREATE TABLE assessment (
    id         INTEGER PRIMARY KEY,
    uid        BLOB    NOT NULL,
    intent     INTEGER NOT NULL,
    agent      INTEGER NOT NULL,
    related    BLOB    NOT NULL,
    verdict    INTEGER NOT NULL,
    action     INTEGER NOT NULL,
    rationale  TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX assessment_intent ON assessment (intent, created_at);

-- Claims that were ever held. Where live ones are found by what they touch, rows leave on release.
CREATE TABLE claim (
    id               INTEGER PRIMARY KEY,
    uid              BLOB    NOT NULL,
    intent           INTEGER NOT NULL,
    agent            INTEGER NOT NULL,
    scope            INTEGER NOT NULL,
    kind             INTEGER NOT NULL,
    key              TEXT    NOT NULL,
    full             TEXT    NOT NULL,
    alias            TEXT,
    reversed         TEXT,
    status           INTEGER NOT NULL,
    reason           TEXT,
    lease_expires_at INTEGER NOT NULL,
    created_at       INTEGER NOT NULL
) STRICT;
-- A claim belongs to its intent: another ledger may say the same identifier of two.
CREATE UNIQUE INDEX claim_uid ON claim (uid, intent);
CREATE INDEX claim_intent ON claim (intent);
CREATE INDEX claim_alias ON claim (kind, alias) WHERE alias IS NOT NULL;
CREATE INDEX claim_full ON claim (kind, full);
CREATE INDEX claim_held_reversed ON claim (kind, reversed) WHERE status = 1 AND reversed IS NOT NULL;
CREATE INDEX claim_held ON claim (lease_expires_at) WHERE status = 1;

CREATE TABLE intent_scope (
    intent    INTEGER NOT NULL,
    scope     INTEGER NOT NULL,
    place     INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    inferred  INTEGER NOT NULL,
    key       TEXT    NOT NULL,
    alias     TEXT,
    PRIMARY KEY (intent, scope)
) STRICT, WITHOUT ROWID;

CREATE INDEX intent_scope_scope ON intent_scope (scope);
CREATE INDEX intent_scope_alias ON intent_scope (alias) WHERE alias IS NOT NULL;

-- Where active intents are found by what they touch. Rows leave when the intent closes.
CREATE TABLE active_scope (
    id           INTEGER PRIMARY KEY,
    intent       INTEGER NOT NULL,
    agent        INTEGER NOT NULL,
    scope        INTEGER NOT NULL,
    kind         INTEGER NOT NULL,
    full         TEXT    NOT NULL,
    alias        TEXT,
    reversed     TEXT,
    operation    INTEGER NOT NULL,
    inferred     INTEGER NOT NULL,
    published_at INTEGER NOT NULL
) STRICT;
-- Everything a comparison asks for: a popular scope has hundreds of rows, all over the table.
CREATE INDEX active_scope_full
    ON active_scope (kind, full, intent, agent, scope, operation, inferred, published_at);
-- With the scope, so that those found by their full form need not be looked at again.
CREATE INDEX active_scope_alias ON active_scope (kind, alias, scope) WHERE alias IS NOT NULL;
CREATE INDEX active_scope_reversed ON active_scope (kind, reversed, scope) WHERE reversed IS NOT NULL;
CREATE INDEX active_scope_intent ON active_scope (intent);

-- The words of their names, and of the summaries, by the size of the set they stand in.
CREATE TABLE active_word (
    kind  INTEGER NOT NULL,
    word  TEXT    NOT NULL,
    size  INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    PRIMARY KEY (kind, word, size, scope)
) STRICT, WITHOUT ROWID;
CREATE INDEX active_word_scope ON active_word (scope);

-- What is found by one word says in its signature (see ledger/signature.rs) which others can stand with it.
CREATE TABLE active_summary (
    word      TEXT    NOT NULL,
    size      INTEGER NOT NULL,
    intent    INTEGER NOT NULL,
    signature INTEGER NOT NULL,
    PRIMARY KEY (word, size, intent)
) STRICT, WITHOUT ROWID;
CREATE INDEX active_summary_intent ON active_summary (intent);

-- Findings on record, most of what a busy ledger holds. Scopes are 0 and operations absent for duplicate
-- work. The identifier follows from rule, intents and scopes; its first 31 bits are kept to find it by.
-- flags: 1 asserted, 2 the operation of the low side and 4 that of the high side inferred. `settled` is
-- the severity at which the matter was closed for good; while it is absent, a new sight opens it again.
CREATE TABLE conflict (
    pair           INTEGER NOT NULL,
    rule           INTEGER NOT NULL,
    low_scope      INTEGER NOT NULL,
    high_scope     INTEGER NOT NULL,
    uid_head       INTEGER NOT NULL,
    tier           INTEGER,
    severity       INTEGER NOT NULL,
    score          INTEGER NOT NULL,
    low_operation  INTEGER,
    high_operation INTEGER,
    flags          INTEGER NOT NULL,
    similarity     INTEGER,
    status         INTEGER NOT NULL,
    first_seq      INTEGER NOT NULL,
    settled        INTEGER,
    decision       INTEGER,
    PRIMARY KEY (pair, rule, low_scope, high_scope)
) STRICT, WITHOUT ROWID;
CREATE INDEX conflict_by_age ON conflict (status, first_seq, pair, rule, low_scope, high_scope);

-- Pairs by the beginnings of their conflicts' identifiers, as far as they are listed: see ledger/blocks.rs. A
-- dictionary, too: it may list what is no longer there.
CREATE TABLE conflict_head (
    head INTEGER NOT NULL,
    pair INTEGER NOT NULL,
    PRIMARY KEY (head, pair)
) STRICT, WITHOUT ROWID;

-- Findings that wait for a silent owner: `debtor` is that owner's intent.
CREATE TABLE owed (
    pair   INTEGER NOT NULL,
    debtor INTEGER NOT NULL,
    PRIMARY KEY (pair, debtor)
) STRICT, WITHOUT ROWID;
CREATE INDEX owed_debtor ON owed (debtor);

CREATE TABLE message (
    id          INTEGER PRIMARY KEY,
    sender      INTEGER NOT NULL,
    recipient   INTEGER NOT NULL,
    message     TEXT    NOT NULL,
    conflict_id BLOB,
    status      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX message_recipient ON message (recipient, created_at);
CREATE INDEX message_unread ON message (recipient) WHERE status = 1;

CREATE TABLE decision (
    id         INTEGER PRIMARY KEY,
    uid        BLOB    NOT NULL,
    pair       INTEGER NOT NULL,
    agent      INTEGER NOT NULL,
    title      TEXT    NOT NULL,
    rationale  TEXT    NOT NULL,
    decided_at INTEGER NOT NULL
) STRICT;
CREATE INDEX decision_pair ON decision (pair);

-- Operational: not history, not replayed, never shared.
CREATE TABLE presence (
    agent     INTEGER PRIMARY KEY,
    last_seen INTEGER NOT NULL
) STRICT;
