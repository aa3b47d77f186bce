#!lua flags=allow-oom
-- Moves an experiment from the list of one retention stage to the list of the next.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 project, 3 finished stage, 4 next stage or ''
-- Returns   1, or 0 if it was not in the list

local root, id, project = KEYS[1], ARGV[1], ARGV[2]
local from = root .. ':due:' .. ARGV[3] .. ':' .. project
local endedAt = redis.call('ZSCORE', from, id)
if not endedAt then return 0 end
redis.call('ZREM', from, id)
if ARGV[4] ~= '' then redis.call('ZADD', root .. ':due:' .. ARGV[4] .. ':' .. project, endedAt, id) end
return 1
