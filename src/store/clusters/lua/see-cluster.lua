#!lua flags=allow-oom
-- Records the report of a cluster's ray-worker with the server's time, because the clocks of dispatchers may differ. It is
-- stored beside the cluster's record, so that neither overwrites the other.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name, 2 report (JSON, an object with at least one field), 3 address of the ray-worker
-- Returns   1, or 0 if there is no such cluster at that address
-- include time

local clusters = KEYS[1] .. ':clusters'
local record = redis.call('HGET', clusters, ARGV[1])
if not record or cjson.decode(record).address ~= ARGV[3] then return 0 end
local seen = string.sub(ARGV[2], 1, -2) .. ',"lastSeenAt":' .. int(nowMs()) .. '}'
redis.call('HSET', clusters .. ':seen', ARGV[1], seen)
return 1
