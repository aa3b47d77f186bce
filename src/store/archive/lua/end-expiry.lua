#!lua flags=allow-oom
-- Takes an experiment from among those that are to lose something, and puts it among those that lose the next.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 project, 3 stage that is over, 4 the next one or ''
-- Returns   1, or 0 where it was not among them

local root, id, project = KEYS[1], ARGV[1], ARGV[2]
local from = root .. ':due:' .. ARGV[3] .. ':' .. project
local endedAt = redis.call('ZSCORE', from, id)
if not endedAt then return 0 end
redis.call('ZREM', from, id)
if ARGV[4] ~= '' then redis.call('ZADD', root .. ':due:' .. ARGV[4] .. ':' .. project, endedAt, id) end
return 1
