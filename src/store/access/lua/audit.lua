#!lua flags=allow-oom
-- Adds an entry to the audit log.
--
-- KEYS[1]   root of all keys
-- ARGV      1 entry (JSON), 2 the caller that it counts for, or 'admin', 3 MAX entries, 4 MAX entries of one caller,
--           5 their lifetime (ms)
-- Returns   id of the entry
-- include time
-- include audit

return recordAudit(KEYS[1], { entry = ARGV[1], ring = ARGV[2], max = ARGV[3], maxOfCaller = ARGV[4],
  retainMs = ARGV[5] }, nowMs())
