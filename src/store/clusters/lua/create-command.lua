#!lua flags=allow-oom
-- Records a command and wakes the dispatchers. A repeated id changes nothing. A second removal of a cluster is the same
-- command as the open one, unless the cluster is added again after that.
--
-- KEYS[1]   root of all keys
-- ARGV      1 id, 2 cluster, 3 kind, 4 request (JSON), 5 secret (may be empty), 6 project (may be empty),
--           7 the revision that the cluster must have, or ''
-- Returns   the command's id, or that of the open removal, or 'changed-since': nothing was recorded
-- Events    PUBLISH wake 'command'
-- include time
-- include revision

local root, id = KEYS[1], ARGV[1]
local command = root .. ':command:' .. id

local function openRemoval(cluster)
  for _, other in ipairs(redis.call('ZREVRANGE', root .. ':commands', 0, -1)) do
    local record = redis.call('HMGET', root .. ':command:' .. other, 'cluster', 'kind')
    if record[1] == cluster and record[2] == 'add' then return nil end
    if record[1] == cluster and record[2] == 'remove' then return other end
  end
end

if redis.call('EXISTS', command) == 1 then return id end
if not hasRevision(root, 'cluster', ARGV[2], ARGV[7]) then return 'changed-since' end
local removal = ARGV[3] == 'remove' and openRemoval(ARGV[2])
if removal then return removal end
local now = nowMs()
redis.call('HSET', command, 'id', id, 'cluster', ARGV[2], 'kind', ARGV[3], 'state', 'queued', 'request', ARGV[4],
  'secret', ARGV[5], 'createdAt', int(now))
if ARGV[6] ~= '' then redis.call('HSET', command, 'project', ARGV[6]) end
local last = redis.call('ZREVRANGE', root .. ':commands', 0, 0, 'WITHSCORES')[2]
redis.call('ZADD', root .. ':commands', int(math.max(now, (tonumber(last) or 0) + 1)), id)
redis.call('PUBLISH', root .. ':wake', 'command')
return id
