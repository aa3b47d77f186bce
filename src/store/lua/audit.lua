#!lua flags=allow-oom
-- Adds an entry to the audit log and lets the oldest ones go, by age and by number. Nothing else ever changes it.
--
-- KEYS[1]   root of all keys
-- ARGV      1 entry (JSON), 2 entries that are kept at most, 3 how long they are kept (ms)
-- Returns   id of the entry
-- include time

local log = KEYS[1] .. ':audit'
local id = redis.call('XADD', log, '*', 'e', ARGV[1])
redis.call('XTRIM', log, 'MAXLEN', '~', ARGV[2])
redis.call('XTRIM', log, 'MINID', '~', int(nowMs() - ARGV[3]))
return id
