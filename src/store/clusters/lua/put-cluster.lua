#!lua flags=allow-oom
-- Records a cluster, new or changed, and what is known of it from its ray-worker. A new cluster takes experiments.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name, 2 what people decide of it (JSON; equal decisions are equal texts), 3 what was seen of it (JSON)
-- Returns   1
-- include revision

local clusters, name = KEYS[1] .. ':clusters', ARGV[1]
local before = redis.call('HGET', clusters, name)
if not before then redis.call('SREM', clusters .. ':draining', name) end
if before ~= ARGV[2] then raiseRevision(KEYS[1], 'cluster', name) end
redis.call('HSET', clusters .. ':seen', name, ARGV[3])
redis.call('HSET', clusters, name, ARGV[2])
return 1
