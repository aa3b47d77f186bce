-- Allocated attempts that no dispatcher has acquired yet. {root}:allocated is the sorted set of their experiments by the
-- time of the allocation. Such an attempt has no driver, so its experiment can end at once. Needs state.

local function isAllocated(root, id)
  return redis.call('ZSCORE', root .. ':allocated', id) ~= false
end

-- Whether an experiment in this state has no attempt that a dispatcher may have launched.
local function isUnacquired(root, id, state)
  return state == 'queued' or (state == 'launching' and isAllocated(root, id))
end

-- Ends an experiment that is unacquired, and frees its allocation.
-- change: from, to, attempt (string), reason, now (ms)
local function endUnacquired(root, id, change)
  local x = root .. ':x:' .. id
  if redis.call('ZREM', root .. ':allocated', id) == 1 then
    freeAllocation(root, id, redis.call('HGET', x, 'cluster'))
  end
  redis.call('ZREM', root .. ':deadlines', id)
  redis.call('HSET', x, 'endedAt', int(change.now))
  redis.call('HDEL', x, 'allocation', 'waitReason', 'waitRank', 'waitEstimate', 'notBefore', 'waitsFor')
  moveState(root, id, change)
  redis.call('PUBLISH', root .. ':wake', 'queue')
end

-- Fails an unacquired experiment whose deadline has passed.
local function failPastDeadline(root, id, record, now)
  endUnacquired(root, id, { from = record.state, to = 'failed', attempt = record.attempt,
    reason = 'its deadline passed before it could start', now = now })
end
