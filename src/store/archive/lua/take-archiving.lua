#!lua flags=allow-oom
-- Leases finished experiments whose streams are to be archived, or whose event logs clusters are to delete, in the order
-- of their ends.
--
-- KEYS[1]   root of all keys
-- ARGV      1 limit, 2 duration of the lease (ms), 3 ms that must have passed since the end,
--           4 'archiving' or 'forgetting'
-- Returns   ids
-- include time

local archiving = KEYS[1] .. ':' .. ARGV[4]
local now = nowMs()
local due = redis.call('ZRANGEBYSCORE', archiving, '-inf', int(now - ARGV[3]), 'LIMIT', 0, ARGV[1])
for _, id in ipairs(due) do
  redis.call('ZADD', archiving, int(now + ARGV[2] - ARGV[3]), id)
end
return due
