#!lua flags=allow-oom
-- Leases experiments with new events for their rules, or whose wait for a checkpoint is over, the oldest first.
--
-- KEYS[1]   root of all keys
-- ARGV      1 limit, 2 duration of the lease (ms)
-- Returns   {the server's time (ms), ids}
-- include time

local root = KEYS[1]
local signals, waits = root .. ':signals', root .. ':signals:waits'
local now = nowMs()
for _, id in ipairs(redis.call('ZRANGEBYSCORE', waits, '-inf', int(now), 'LIMIT', 0, ARGV[1])) do
  redis.call('ZREM', waits, id)
  redis.call('ZADD', signals, 'NX', int(now), id)
end
local due = redis.call('ZRANGEBYSCORE', signals, '-inf', int(now), 'LIMIT', 0, ARGV[1])
for _, id in ipairs(due) do
  redis.call('ZADD', signals, int(now + ARGV[2]), id)
end
return { int(now), due }
