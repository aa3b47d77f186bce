#!lua flags=allow-oom
-- Records what a cluster's ray-worker said, and when, by the server's clock: the clocks of dispatchers may differ. It
-- stands beside the cluster's record, so that neither overwrites the other.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name, 2 what was seen (JSON, an object with at least one field)
-- Returns   1, or 0 where there is no such cluster
-- include time

local clusters = KEYS[1] .. ':clusters'
if redis.call('HEXISTS', clusters, ARGV[1]) == 0 then return 0 end
local seen = string.sub(ARGV[2], 1, -2) .. ',"lastSeenAt":' .. int(nowMs()) .. '}'
redis.call('HSET', clusters .. ':seen', ARGV[1], seen)
return 1
