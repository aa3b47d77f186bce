-- include bytes

-- The outboxes of subscriptions. Needs time. A step that includes this changes subscriptions of one project.
--
-- {root}:subscription:<subscription>         hash: project; taking (messages of the running delivery), tries of these,
--                                            sentAt (ms), dropped (messages that were not retained), gaps, disabled (why nothing
--                                            is sent), bytes (of the lists below, counted for the project)
-- {root}:subscription:<subscription>:outbox  list: '<ms since which it is pending> <message>', in the order of delivery
-- {root}:deliveries                          sorted set: subscriptions with pending messages, by the next attempt (ms); inf: disabled

-- Pending messages of a project. A subscription has its own places beyond them, which no other one can fill.
local MAX_PENDING, OWN_PENDING = 5000, 300
-- Pending messages of the project of this step; nil: not counted yet.
local pending

local function outboxLine(now, message)
  return int(now) .. ' ' .. message
end

local function isFull(root, project, sub)
  if redis.call('LLEN', sub .. ':outbox') < OWN_PENDING then return false end
  if not pending then
    pending = 0
    for _, id in ipairs(redis.call('HKEYS', root .. ':subscriptions:' .. project)) do
      pending = pending + redis.call('LLEN', root .. ':subscription:' .. id .. ':outbox')
    end
  end
  return pending >= MAX_PENDING
end

local function addLine(sub, line)
  redis.call('RPUSH', sub .. ':outbox', line)
  if pending then pending = pending + 1 end
end

-- States dropped messages by a message of its own, as soon as there is room.
local function stateDropped(root, project, id, now)
  local sub = root .. ':subscription:' .. id
  local dropped = redis.call('HGET', sub, 'dropped')
  if not dropped or isFull(root, project, sub) then return end
  redis.call('HDEL', sub, 'dropped')
  local gap = id .. '-gap-' .. int(redis.call('HINCRBY', sub, 'gaps', 1))
  addLine(sub, outboxLine(now, '{"id":"' .. gap .. '","type":"gap","at":' .. int(now)
    .. ',"data":{"dropped":' .. dropped .. '}}'))
end

-- Adds a message (JSON); it is counted as dropped if the outbox is full. everyMs: time between two deliveries.
local function pushMessage(root, project, id, message, everyMs)
  local sub, now = root .. ':subscription:' .. id, nowMs()
  stateDropped(root, project, id, now)
  if isFull(root, project, sub) then
    redis.call('HINCRBY', sub, 'dropped', 1)
    return
  end
  addLine(sub, outboxLine(now, message))
  local sentAt = tonumber(redis.call('HGET', sub, 'sentAt') or '0')
  redis.call('ZADD', root .. ':deliveries', 'NX', int(math.max(now, sentAt + everyMs)), id)
end

-- Counts what the lists of a subscription take for its project. Belongs at the end of each step that changes them.
local function countOutbox(root, project, id)
  local sub, bytes = root .. ':subscription:' .. id, 0
  for _, list in ipairs({ 'outbox', 'dead', 'log' }) do
    bytes = bytes + (redis.call('MEMORY', 'USAGE', sub .. ':' .. list) or 0)
  end
  countBytes(root, project, sub, bytes - (redis.call('HGET', sub, 'bytes') or 0))
end
