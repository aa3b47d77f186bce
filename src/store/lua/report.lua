#!lua flags=allow-oom
-- Stores the report of a batch, its event and the counters, once.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 attempt:batch, 3 report (JSON), 4 event (JSON),
--           5 exact, 6 rounding, 7 wrong, 8 unverifiable, 9 error findings
-- Returns   'stored' | 'known' | 'missing' (no such batch)
-- Events    verification, under the experiment's current attempt; told to the feeds where something is wrong
-- include time
-- include feed

local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
if redis.call('HEXISTS', x .. ':batches', ARGV[2]) == 0 then return 'missing' end
redis.call('ZREM', root .. ':pending', id .. ':' .. ARGV[2])
redis.call('HDEL', root .. ':pending:tries', id .. ':' .. ARGV[2])
if redis.call('HSETNX', x .. ':reports', ARGV[2], ARGV[3]) == 0 then return 'known' end
redis.call('HINCRBY', x, 'vVerified', 1)
redis.call('HINCRBY', x, 'vExact', ARGV[5])
redis.call('HINCRBY', x, 'vRounding', ARGV[6])
redis.call('HINCRBY', x, 'vWrong', ARGV[7])
redis.call('HINCRBY', x, 'vUnverifiable', ARGV[8])
redis.call('HINCRBY', x, 'vErrors', ARGV[9])
local attempt = redis.call('HGET', x, 'attempt')
redis.call('XADD', x .. ':events', attempt .. '-*', 't', 'verification', 'a', int(nowMs()), 'd', ARGV[4])
redis.call('PUBLISH', x .. ':changed', 'verification')
redis.call('ZADD', root .. ':signals', 'NX', int(nowMs()), id)
if tonumber(ARGV[7]) > 0 or tonumber(ARGV[9]) > 0 then
  local record = redis.call('HMGET', x, 'project', 'name', 'sweep')
  tell(root, { project = record[1], experiment = id, name = record[2], sweep = record[3], at = nowMs(), event = ARGV[4] })
end
return 'stored'
