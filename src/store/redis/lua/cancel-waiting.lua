-- Cancels an experiment that waits, at once. Needs state. change: attempt (string), reason, now (ms)
local function cancelWaiting(root, id, change)
  local x = root .. ':x:' .. id
  redis.call('ZREM', root .. ':line', id)
  redis.call('ZREM', root .. ':deadlines', id)
  redis.call('HSET', x, 'endedAt', int(change.now))
  redis.call('HDEL', x, 'waitReason', 'waitRank', 'waitEstimate')
  change.from, change.to = 'queued', 'cancelled'
  moveState(root, id, change)
  redis.call('PUBLISH', root .. ':wake', 'line')
end
