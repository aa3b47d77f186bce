#!lua flags=allow-oom
-- Takes batches that have no report and that nobody works on, the oldest first, for a while.
--
-- KEYS[1]   root of all keys
-- ARGV      1 limit, 2 leaseMs
-- Returns   members of the pending set: experiment:attempt:batch
-- include time

local pending = KEYS[1] .. ':pending'
local now = nowMs()
local due = redis.call('ZRANGEBYSCORE', pending, '-inf', int(now), 'LIMIT', 0, ARGV[1])
for _, member in ipairs(due) do
  redis.call('ZADD', pending, int(now + ARGV[2]), member)
end
return due
