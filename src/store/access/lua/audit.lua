#!lua flags=allow-oom
-- Adds an entry to the audit log.
--
-- KEYS[1]   root of all keys
-- ARGV      1 the entry and its bounds (JSON, see redis/lua/audit.lua)
-- Returns   id of the entry
-- include time
-- include audit

return recordAudit(KEYS[1], cjson.decode(ARGV[1]), nowMs())
