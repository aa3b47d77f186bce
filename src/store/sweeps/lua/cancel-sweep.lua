#!lua flags=allow-oom
-- Cancels a sweep: from now on no child is created or run again. Its experiments are cancelled afterwards, one by one;
-- until all are, the sweep is listed as having work.
--
-- KEYS[1]   root of all keys
-- ARGV      1 sweep, 2 reason
-- Returns   'cancelled' (also if it already was) | 'already-final': every child has ended | 'not-found'
-- Events    PUBLISH wake 'sweep'
-- include time
-- include to-come

local root, id = KEYS[1], ARGV[1]
local s = root .. ':sweep:' .. id
local record = redis.call('HMGET', s, 'state', 'count', 'expanded', 'seq', 'made', 'skipped')
if not record[1] then return 'not-found' end
if record[1] == 'cancelled' then return 'cancelled' end
if record[1] == 'done' then return 'already-final' end
redis.call('HSET', s, 'state', 'cancelled', 'reason', ARGV[2])
countToCome(root, s)
-- Children that are no experiments yet will never end.
if redis.call('HINCRBY', s, 'open', int(record[3] + (record[5] or 0) + (record[6] or 0) - record[2])) <= 0 then
  redis.call('HSET', s, 'endedAt', int(nowMs()))
end
redis.call('ZADD', root .. ':sweep-work', record[4], id)
redis.call('PUBLISH', root .. ':wake', 'sweep')
return 'cancelled'
