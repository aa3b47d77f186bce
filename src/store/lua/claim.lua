#!lua flags=allow-oom
-- Claims a waiting experiment: attempt + 1, lease, reservation and the place out of the line, all or nothing.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 cluster, 3 reservation (JSON), 4 version of the cluster's reservations as read,
--           5 dispatcher, 6 leaseMs, 7 token (made by the caller, so that a repeated call finds its own claim),
--           8 reason
-- Returns   {'claimed', attempt}
-- Errors    {'not-waiting'}; {'changed'}: the cluster's reservations are not those that the caller read, or nothing
--           new may start there
-- Events    state: queued -> launching, under the new attempt; PUBLISH wake 'line'
-- include time
-- include state
-- include server

local root, id, cluster = KEYS[1], ARGV[1], ARGV[2]
local x = root .. ':x:' .. id
local record = redis.call('HMGET', x, 'state', 'attempt', 'token')
if record[1] == 'launching' and record[3] == ARGV[7] then return { 'claimed', record[2] } end
if record[1] ~= 'queued' then return { 'not-waiting' } end
if (redis.call('HGET', root .. ':versions', cluster) or '0') ~= ARGV[4] then return { 'changed' } end
if redis.call('SISMEMBER', root .. ':clusters:draining', cluster) == 1 then return { 'changed' } end

local now = nowMs()
local attempt = int(record[2] + 1)
-- The first claim notes where the leases began; what a change means is told in take-over.lua.
if redis.call('EXISTS', root .. ':server') == 0 then redis.call('SET', root .. ':server', serverRun()) end
redis.call('ZREM', root .. ':line', id)
redis.call('HSET', x, 'attempt', attempt, 'cluster', cluster, 'token', ARGV[7], 'dispatcher', ARGV[5])
redis.call('HDEL', x, 'confirmed', 'waitReason', 'open')
redis.call('HSET', x .. ':attempts', attempt .. ':cluster', cluster, attempt .. ':claimedAt', int(now))
redis.call('ZADD', root .. ':leases', int(now + ARGV[6]), id)
redis.call('HSET', root .. ':reserved:' .. cluster, id, ARGV[3])
redis.call('HINCRBY', root .. ':versions', cluster, 1)
moveState(root, id, { from = 'queued', to = 'launching', attempt = attempt, reason = ARGV[8], now = now })
redis.call('PUBLISH', root .. ':wake', 'line')
return { 'claimed', attempt }
