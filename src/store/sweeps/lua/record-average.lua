#!lua flags=allow-oom
-- Notes the running average of a child of a sweep at a step. The averages of a step are kept for a while behind the last
-- one: no crash in between leaves them for ever.
--
-- KEYS[1]   root of all keys
-- ARGV      1 sweep, 2 step, 3 index of the child, 4 its average, 5 how long they are kept (s)
-- Returns   child and average in turn, of all children that came to that step
-- Events    none

local key = KEYS[1] .. ':sweep:' .. ARGV[1] .. ':average:' .. ARGV[2]
redis.call('HSET', key, ARGV[3], ARGV[4])
redis.call('EXPIRE', key, ARGV[5])
return redis.call('HGETALL', key)
