#!lua flags=allow-oom
-- Records a cluster, new or changed.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name, 2 cluster (JSON)
-- Returns   1

redis.call('HSET', KEYS[1] .. ':clusters', ARGV[1], ARGV[2])
return 1
