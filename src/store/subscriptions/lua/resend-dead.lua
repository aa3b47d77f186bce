#!lua
-- Moves the dead letters of a subscription to the end of its outbox, as many as have room there, the oldest first. They have
-- their former ids. A disabled subscription sends again.
--
-- KEYS[1]   root of all keys
-- ARGV[1]   subscription
-- Returns   how many were moved; of a disabled one: how many are pending now
-- include time
-- include outbox

local root, id = KEYS[1], ARGV[1]
local sub, now = root .. ':subscription:' .. id, nowMs()
local room = MAX_PENDING - redis.call('LLEN', sub .. ':outbox')
local dead = room > 0 and redis.call('LRANGE', sub .. ':dead', 0, room - 1) or {}
for _, line in ipairs(dead) do
  redis.call('RPUSH', sub .. ':outbox', outboxLine(now, string.match(line, '^%d+ (.*)$')))
end
if #dead > 0 then
  redis.call('LTRIM', sub .. ':dead', #dead, -1)
  redis.call('ZADD', root .. ':deliveries', 'NX', int(now), id)
end
if redis.call('HDEL', sub, 'disabled') == 0 then return #dead end
redis.call('ZADD', root .. ':deliveries', int(now), id)
return redis.call('LLEN', sub .. ':outbox')
