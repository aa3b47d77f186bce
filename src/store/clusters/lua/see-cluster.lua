#!lua flags=allow-oom
-- Records what a cluster's ray-worker said, and when, by the server's clock: the clocks of dispatchers may differ. It
-- stands beside the cluster's record, so that neither overwrites the other.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name, 2 what was seen (JSON, an object with at least one field), 3 the address at which it was seen
-- Returns   1, or 0 if there is no such cluster at that address
-- include time

local clusters = KEYS[1] .. ':clusters'
local record = redis.call('HGET', clusters, ARGV[1])
if not record or cjson.decode(record).address ~= ARGV[3] then return 0 end
local seen = string.sub(ARGV[2], 1, -2) .. ',"lastSeenAt":' .. int(nowMs()) .. '}'
redis.call('HSET', clusters .. ':seen', ARGV[1], seen)
return 1
