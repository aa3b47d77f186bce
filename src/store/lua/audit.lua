#!lua flags=allow-oom
-- Adds an entry to the audit log.
--
-- KEYS[1]   root of all keys
-- ARGV      1 entry (JSON), 2 entries that are kept at most, 3 how long they are kept (ms)
-- Returns   id of the entry
-- include time
-- include audit

return recordAudit(KEYS[1], ARGV[1], ARGV[2], ARGV[3], nowMs())
