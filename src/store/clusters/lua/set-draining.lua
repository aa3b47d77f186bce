#!lua flags=allow-oom
-- Drains a cluster, so that nothing new starts there, or ends that. Allocations check it in their own step.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name, 2 '1' to drain, '0' to take experiments again
-- Returns   1, or 0 if there is no such cluster
-- Events    PUBLISH wake 'queue'
-- include revision

local clusters = KEYS[1] .. ':clusters'
if redis.call('HEXISTS', clusters, ARGV[1]) == 0 then return 0 end
local changed = redis.call(ARGV[2] == '1' and 'SADD' or 'SREM', clusters .. ':draining', ARGV[1])
if changed == 1 then raiseRevision(KEYS[1], 'cluster', ARGV[1]) end
redis.call('PUBLISH', KEYS[1] .. ':wake', 'queue')
return 1
