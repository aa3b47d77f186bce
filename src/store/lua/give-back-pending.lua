#!lua flags=allow-oom
-- Lets go of a batch that was taken for verification: another may take it at once, and this time does not count.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment:attempt:batch
-- Returns   1, or 0 where it is not pending any more
-- include time

local root, member = KEYS[1], ARGV[1]
if not redis.call('ZSCORE', root .. ':pending', member) then return 0 end
redis.call('ZADD', root .. ':pending', int(nowMs()), member)
if redis.call('HINCRBY', root .. ':pending:tries', member, -1) <= 0 then
  redis.call('HDEL', root .. ':pending:tries', member)
end
return 1
