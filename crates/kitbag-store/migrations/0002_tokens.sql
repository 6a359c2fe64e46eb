-- Until when a token lets somebody in, and when it last did.

ALTER TABLE tokens ADD COLUMN expires BIGINT;
ALTER TABLE tokens ADD COLUMN used BIGINT;
