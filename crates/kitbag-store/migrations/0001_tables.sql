-- One set for SQLite and PostgreSQL: BIGINT and TEXT mean the same in both, and SQLite keeps bytes in a column of any type.
-- Times are milliseconds since 1970. No user's id is empty, so an owner '' is everybody.

CREATE TABLE pins (
    owner TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    hash TEXT NOT NULL,
    definition TEXT NOT NULL,
    approved_by TEXT,
    approved_at BIGINT,
    first_seen BIGINT NOT NULL,
    last_seen BIGINT NOT NULL,
    PRIMARY KEY (owner, server, tool)
);

CREATE TABLE approvals (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    session TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    definition TEXT NOT NULL,
    arguments TEXT NOT NULL,
    shown TEXT NOT NULL,
    created BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    state TEXT NOT NULL,
    answer TEXT,
    ended BIGINT
);
CREATE INDEX approvals_of_user ON approvals (user_id, state);

CREATE TABLE grants (
    user_id TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    definition TEXT NOT NULL,
    given BIGINT NOT NULL,
    PRIMARY KEY (user_id, server, tool, definition)
);

CREATE TABLE tokens (
    hash TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    created BIGINT NOT NULL,
    UNIQUE (user_id, name)
);

CREATE TABLE inputs (
    user_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    sealed BYTEA NOT NULL,
    PRIMARY KEY (user_id, scope, id)
);

CREATE TABLE cache (
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    identity TEXT NOT NULL,
    written BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (kind, owner, name, identity)
);

CREATE TABLE audit (
    writer TEXT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    user_id TEXT,
    agent TEXT,
    server TEXT,
    tool TEXT,
    decision TEXT NOT NULL,
    rule TEXT,
    outcome TEXT NOT NULL,
    took_ms BIGINT NOT NULL,
    request_bytes BIGINT NOT NULL,
    result_bytes BIGINT NOT NULL,
    arguments TEXT,
    call_id TEXT,
    bytes BIGINT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (writer, seq)
);
CREATE INDEX audit_by_time ON audit (at, writer, seq);
CREATE INDEX audit_of_user ON audit (user_id, at);

-- The end of each writer's chain, and what its first row follows. `at` is the time of the last row.
CREATE TABLE audit_heads (
    writer TEXT NOT NULL PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL,
    anchor_seq BIGINT NOT NULL,
    anchor_hash TEXT NOT NULL,
    at BIGINT NOT NULL
);
