#!lua flags=allow-oom
-- Ends a delivery. An outcome of messages that are not the next ones any more changes nothing: another process delivered them.
--
-- KEYS[1]   root of all keys
-- ARGV      1 subscription, 2 first line of the delivery as it was read, 3 'delivered' | 'failed' | 'dead' | 'gone', 4 wait
--           until the next attempt (ms), 5 MAX entries of the log, 6 MAX dead letters, 7... entries of the log (JSON)
-- Returns   1, or 0 if nothing was changed
-- include time
-- include outbox

local root, id, outcome = KEYS[1], ARGV[1], ARGV[3]
local sub, due, now = root .. ':subscription:' .. id, root .. ':deliveries', nowMs()
local outbox = sub .. ':outbox'
local state = redis.call('HMGET', sub, 'taking', 'project')
local taking, project = tonumber(state[1] or '0'), state[2]
if taking == 0 or redis.call('LINDEX', outbox, 0) ~= ARGV[2] then return 0 end
for i = 7, #ARGV do redis.call('LPUSH', sub .. ':log', ARGV[i]) end
redis.call('LTRIM', sub .. ':log', 0, ARGV[5] - 1)
countOutbox(root, project, id)
if outcome == 'failed' then
  redis.call('HINCRBY', sub, 'tries', 1)
  redis.call('ZADD', due, int(now + ARGV[4]), id)
  return 1
end
if outcome == 'gone' then
  -- Its messages stay pending, and none is ever due.
  redis.call('HDEL', sub, 'tries')
  redis.call('HSET', sub, 'disabled', cjson.decode(ARGV[7]).reason)
  redis.call('ZADD', due, 'inf', id)
  return 1
end
if outcome == 'dead' then
  for _, line in ipairs(redis.call('LRANGE', outbox, 0, taking - 1)) do redis.call('RPUSH', sub .. ':dead', line) end
  redis.call('LTRIM', sub .. ':dead', -ARGV[6], -1)
end
redis.call('LTRIM', outbox, taking, -1)
redis.call('HDEL', sub, 'taking', 'tries')
stateDropped(root, project, id, now)
redis.call('HSET', sub, 'sentAt', int(now))
countOutbox(root, project, id)
if redis.call('EXISTS', outbox) == 1 then
  redis.call('ZADD', due, int(now + ARGV[4]), id)
else
  redis.call('ZREM', due, id)
end
return 1
