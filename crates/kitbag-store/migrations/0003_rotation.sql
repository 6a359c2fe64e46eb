-- When the audit log was last looked at for what must go. Lists and eras are files, so nothing else was in the cache.

DROP TABLE cache;
CREATE TABLE audit_rotation (
    id BIGINT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL
);
