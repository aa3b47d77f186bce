#!lua flags=allow-oom
-- Records a new or changed cluster, and the last report of its ray-worker. A new cluster accepts experiments.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name, 2 settings by users (canonical JSON), 3 last report of its ray-worker (JSON)
-- Returns   1
-- include revision

local clusters, name = KEYS[1] .. ':clusters', ARGV[1]
local before = redis.call('HGET', clusters, name)
if not before then redis.call('SREM', clusters .. ':draining', name) end
if before ~= ARGV[2] then raiseRevision(KEYS[1], 'cluster', name) end
redis.call('HSET', clusters .. ':seen', name, ARGV[3])
redis.call('HSET', clusters, name, ARGV[2])
return 1
