#!lua flags=allow-oom
-- Records that a cluster's ray-worker is silent, once for each silence, in the feed of every project with subscriptions.
--
-- KEYS[1]   root of all keys
-- ARGV      1 cluster, 2 a silence is longer than this (ms)
-- Returns   1, or 0 if it is not silent or the silence was recorded
-- Events    cluster
-- include time
-- include feed

local root, cluster = KEYS[1], ARGV[1]
local text = redis.call('HGET', root .. ':clusters:seen', cluster)
local seenAt = text and cjson.decode(text).lastSeenAt
if type(seenAt) ~= 'number' or nowMs() - seenAt <= tonumber(ARGV[2]) then return 0 end
if redis.call('HGET', root .. ':clusters:silent', cluster) == int(seenAt) then return 0 end
redis.call('HSET', root .. ':clusters:silent', cluster, int(seenAt))
local event = '{"type":"cluster","state":"silent","since":' .. int(seenAt) .. '}'
for _, project in ipairs(redis.call('HKEYS', root .. ':subscribed')) do
  publishToProject(root, { project = project, name = cluster, at = nowMs(), event = event })
end
return 1
