#!lua flags=allow-oom
-- Records what a cluster's ray-worker said. It stands beside the cluster's record, so that neither overwrites the other.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name, 2 what was seen (JSON)
-- Returns   1, or 0 where there is no such cluster

local clusters = KEYS[1] .. ':clusters'
if redis.call('HEXISTS', clusters, ARGV[1]) == 0 then return 0 end
redis.call('HSET', clusters .. ':seen', ARGV[1], ARGV[2])
return 1
