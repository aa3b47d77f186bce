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
local project = redis.call('HGET', sub, 'project')
local moved = 0
while not isFull(root, project, sub) do
  local line = redis.call('LPOP', sub .. ':dead')
  if not line then break end
  addLine(sub, outboxLine(now, string.match(line, '^%d+ (.*)$')))
  moved = moved + 1
end
if moved > 0 then
  countOutbox(root, project, id)
  redis.call('ZADD', root .. ':deliveries', 'NX', int(now), id)
end
if redis.call('HDEL', sub, 'disabled') == 0 then return moved end
redis.call('ZADD', root .. ':deliveries', int(now), id)
return redis.call('LLEN', sub .. ':outbox')
