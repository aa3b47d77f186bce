#!lua flags=allow-oom
-- Claims a waiting experiment: attempt + 1, lease, reservation and the place out of the line, all or nothing.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 cluster, 3 reservation (JSON), 4 version of the cluster's reservations as read,
--           5 dispatcher, 6 leaseMs, 7 token (made by the caller, so that a repeated call finds its own claim),
--           8 reason, 9 version of the project's reservations as read, or '' where it has no quota
-- Returns   {'claimed', attempt}
-- Errors    {'not-waiting'}, also where its deadline has passed (it has failed then); 
--           {'busy'}: the dispatcher has a suspect in its hands, or makes room for one (redis/lua/suspects.lua)
--           {'changed'}: the reservations of the cluster or the project are not those that the caller read, or
--           nothing new may start
-- Events    state: queued -> launching, under the new attempt. Nobody is woken: it makes room for no one.
-- include time
-- include state
-- include limits
-- include server
-- include suspects

local root, id, cluster = KEYS[1], ARGV[1], ARGV[2]
local x = root .. ':x:' .. id
local record = redis.call('HMGET', x, 'state', 'attempt', 'token', 'deadlineAt', 'project')
if record[1] == 'launching' and record[3] == ARGV[7] then return { 'claimed', record[2] } end
if record[1] ~= 'queued' then return { 'not-waiting' } end
if redis.call('EXISTS', root .. ':alone:' .. ARGV[5]) == 1 then return { 'busy' } end
if record[4] and nowMs() >= tonumber(record[4]) then
  failWaiting(root, id, record[2], nowMs())
  return { 'not-waiting' }
end
if (redis.call('HGET', root .. ':versions', cluster) or '0') ~= ARGV[4] then return { 'changed' } end
if redis.call('SISMEMBER', root .. ':clusters:draining', cluster) == 1 then return { 'changed' } end
local project = 'project:' .. record[5]
if (ARGV[9] or '') ~= '' and (redis.call('HGET', root .. ':versions', project) or '0') ~= ARGV[9] then
  return { 'changed' }
end
local paused = redis.call('HMGET', root .. ':paused', 'line', project, 'cluster:' .. cluster)
if paused[1] or paused[2] or paused[3] then return { 'changed' } end

local now = nowMs()
local attempt = int(record[2] + 1)
-- The first claim notes where the leases began; what a change means is told in take-over.lua.
if redis.call('EXISTS', root .. ':server') == 0 then redis.call('SET', root .. ':server', serverRun()) end
redis.call('ZREM', root .. ':line', id)
redis.call('HSET', x, 'attempt', attempt, 'cluster', cluster, 'token', ARGV[7], 'dispatcher', ARGV[5])
redis.call('SADD', unsettledOf(root, ARGV[5]), id)
redis.call('HDEL', x, 'confirmed', 'waitReason', 'waitRank', 'waitEstimate', 'open', 'notBefore', 'limitReached')
redis.call('HSET', x .. ':attempts', attempt .. ':cluster', cluster, attempt .. ':claimedAt', int(now))
redis.call('ZADD', root .. ':leases', int(now + ARGV[6]), id)
redis.call('HSET', root .. ':reserved:' .. cluster, id, ARGV[3])
redis.call('HINCRBY', root .. ':versions', cluster, 1)
redis.call('HINCRBY', root .. ':versions', project, 1)
moveState(root, id, { from = 'queued', to = 'launching', attempt = attempt, reason = ARGV[8], now = now })
return { 'claimed', attempt }
