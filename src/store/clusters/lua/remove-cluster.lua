#!lua flags=allow-oom
-- Removes a cluster without allocations. The version of its allocations outlives it and rises, and it counts as draining
-- until it is added again. So no allocation that was decided before the removal succeeds after it.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name, then everything that is stored beside its record: another cluster of this name must not inherit it
-- Returns   1; 0 if there is no such cluster, -1 if it has allocations
-- include revision

local root, name = KEYS[1], ARGV[1]
if redis.call('HLEN', root .. ':allocations:' .. name) > 0 then return -1 end
redis.call('HINCRBY', root .. ':versions', name, 1)
redis.call('HDEL', root .. ':clusters:seen', name)
redis.call('HDEL', root .. ':clusters:silent', name)
for i = 2, #ARGV do
  redis.call('HDEL', root .. ':clusters:set', ARGV[i] .. ':' .. name)
end
redis.call('DEL', root .. ':faults:' .. name)
redis.call('HDEL', root .. ':paused', 'cluster:' .. name)
local removed = redis.call('HDEL', root .. ':clusters', name)
if removed == 1 then
  redis.call('SADD', root .. ':clusters:draining', name)
  raiseRevision(root, 'cluster', name)
end
return removed
