#!lua flags=allow-oom
-- Changes settings of a cluster by users. They are stored beside the cluster's record, which an upgrade of its ray-worker
-- overwrites.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name, 2 the revision that it must have, or '', then setting ('labels', 'codePaths' and others) and value (JSON; '' deletes it) in turn
-- Returns   1, or 0 if there is no such cluster, or 'changed-since': nothing was changed
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
