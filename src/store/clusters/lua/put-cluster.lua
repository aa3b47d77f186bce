#!lua flags=allow-oom
-- Records a cluster, new or changed. What was seen of it before is forgotten; a new one takes experiments.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name, 2 cluster (JSON)
-- Returns   1

local clusters = KEYS[1] .. ':clusters'
if redis.call('HEXISTS', clusters, ARGV[1]) == 0 then redis.call('SREM', clusters .. ':draining', ARGV[1]) end
redis.call('HDEL', clusters .. ':seen', ARGV[1])
redis.call('HSET', clusters, ARGV[1], ARGV[2])
return 1
