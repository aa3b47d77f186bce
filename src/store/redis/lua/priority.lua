-- Needs queue.

-- Gives a queued experiment another priority within its class: record and position in the queue. False: it is not queued, and
-- nothing was changed.
local function setPriority(root, id, priority)
  local x = root .. ':x:' .. id
  local record = redis.call('HMGET', x, 'state', 'seq', 'project', 'priority')
  if record[1] ~= 'queued' then return false end
  -- The record has its class and priority in one number, see src/core/priority-class.ts.
  local rank = string.format('%.0f', priority + 300 * math.floor((record[4] + 150) / 300))
  redis.call('HSET', x, 'priority', rank)
  enqueue(root, id, record[3], queueScore(record[2], rank))
  redis.call('PUBLISH', root .. ':wake', 'queue')
  return true
end
