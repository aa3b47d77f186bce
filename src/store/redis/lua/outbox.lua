-- The outboxes of subscriptions. Needs time.
--
-- {root}:subscription:<subscription>         hash: project; taking (messages of the running delivery), tries of these,
--                                            sentAt (ms), dropped (messages that were not retained), gaps, disabled (why nothing
--                                            is sent)
-- {root}:subscription:<subscription>:outbox  list: '<ms since which it is pending> <message>', in the order of delivery
-- {root}:deliveries                          sorted set: subscriptions with pending messages, by the next attempt (ms); inf: disabled
local MAX_PENDING = 5000

local function outboxLine(now, message)
  return int(now) .. ' ' .. message
end

-- States dropped messages by a message of its own, as soon as there is room.
local function stateDropped(sub, id, now)
  local dropped = redis.call('HGET', sub, 'dropped')
  if not dropped or redis.call('LLEN', sub .. ':outbox') >= MAX_PENDING then return end
  redis.call('HDEL', sub, 'dropped')
  local gap = id .. '-gap-' .. int(redis.call('HINCRBY', sub, 'gaps', 1))
  redis.call('RPUSH', sub .. ':outbox', outboxLine(now, '{"id":"' .. gap .. '","type":"gap","at":' .. int(now)
    .. ',"data":{"dropped":' .. dropped .. '}}'))
end

-- Adds a message (JSON); it is counted as dropped if the outbox is full. everyMs: time between two deliveries.
local function pushMessage(root, id, message, everyMs)
  local sub, now = root .. ':subscription:' .. id, nowMs()
  stateDropped(sub, id, now)
  if redis.call('LLEN', sub .. ':outbox') >= MAX_PENDING then
    redis.call('HINCRBY', sub, 'dropped', 1)
    return
  end
  redis.call('RPUSH', sub .. ':outbox', outboxLine(now, message))
  local sentAt = tonumber(redis.call('HGET', sub, 'sentAt') or '0')
  redis.call('ZADD', root .. ':deliveries', 'NX', int(math.max(now, sentAt + everyMs)), id)
end
