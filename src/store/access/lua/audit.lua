#!lua flags=allow-oom
-- Adds an entry to the audit log.
--
-- KEYS[1]   root of all keys
-- ARGV      1 entry (JSON), 2 the caller that it counts for, or 'admin', 3 entries that are kept at most, 4 of one
--           caller, 5 how long they are kept (ms)
-- Returns   id of the entry
-- include time
-- include audit

return recordAudit(KEYS[1], { entry = ARGV[1], ring = ARGV[2], most = ARGV[3], mostOfCaller = ARGV[4],
  keptMs = ARGV[5] }, nowMs())
