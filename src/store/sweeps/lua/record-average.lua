#!lua flags=allow-oom
-- Records the running average of a child of a sweep at a step. The averages of a step expire some time after the last one.
--
-- KEYS[1]   root of all keys
-- ARGV      1 sweep, 2 step, 3 index of the child, 4 its average, 5 their lifetime (s)
-- Returns   child and average in turn, of all children that have reached that step
-- Events    none

local key = KEYS[1] .. ':sweep:' .. ARGV[1] .. ':average:' .. ARGV[2]
redis.call('HSET', key, ARGV[3], ARGV[4])
redis.call('EXPIRE', key, ARGV[5])
return redis.call('HGETALL', key)
