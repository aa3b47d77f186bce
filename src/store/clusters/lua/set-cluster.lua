#!lua flags=allow-oom
-- Sets what people decide of a cluster. It stands beside the cluster's record, which is written anew when its ray-worker
-- is brought up to date.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name, 2 the revision that it must have, or '', then in turn what is set ('labels', 'backfill', 'codePaths') and its
--           value (JSON); '' forgets it
-- Returns   1, or 0 where there is no such cluster, or 'changed-since': nothing was changed
-- Events    PUBLISH wake 'queue'
-- include revision

local root, name = KEYS[1], ARGV[1]
if redis.call('HEXISTS', root .. ':clusters', name) == 0 then return 0 end
if not hasRevision(root, 'cluster', name, ARGV[2]) then return 'changed-since' end
for i = 3, #ARGV, 2 do
  local field = ARGV[i] .. ':' .. name
  if ARGV[i + 1] == '' then
    redis.call('HDEL', root .. ':clusters:set', field)
  else
    redis.call('HSET', root .. ':clusters:set', field, ARGV[i + 1])
  end
end
raiseRevision(root, 'cluster', name)
redis.call('PUBLISH', root .. ':wake', 'queue')
return 1
