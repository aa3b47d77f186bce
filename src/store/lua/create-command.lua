#!lua flags=allow-oom
-- Records a command and wakes the dispatchers. The same id a second time changes nothing.
--
-- KEYS[1]   root of all keys
-- ARGV      1 id, 2 cluster, 3 kind, 4 request (JSON), 5 secret (may be empty), 6 project (may be empty),
--           7 the version that the cluster must have, or ''
-- Returns   1, or 0 where it was there, or 'changed-since': nothing was recorded
-- Events    PUBLISH wake 'command'
-- include time
-- include version

local root, id = KEYS[1], ARGV[1]
local command = root .. ':command:' .. id
if redis.call('EXISTS', command) == 1 then return 0 end
if not hasVersion(root, 'cluster', ARGV[2], ARGV[7]) then return 'changed-since' end
local now = nowMs()
redis.call('HSET', command, 'id', id, 'cluster', ARGV[2], 'kind', ARGV[3], 'state', 'queued', 'request', ARGV[4],
  'secret', ARGV[5], 'createdAt', int(now))
if ARGV[6] ~= '' then redis.call('HSET', command, 'project', ARGV[6]) end
local last = redis.call('ZREVRANGE', root .. ':commands', 0, 0, 'WITHSCORES')[2]
redis.call('ZADD', root .. ':commands', int(math.max(now, (tonumber(last) or 0) + 1)), id)
redis.call('PUBLISH', root .. ':wake', 'command')
return 1
