-- The limits of an experiment: its deadline, and the timeout of each attempt from its confirmed launch on. Only the
-- server's clock judges them: at the renewal of a lease, at an allocation, and when the queue is checked.

-- Stores the limits of a new experiment: timeoutMs and deadlineAt (ms), each '' if it has none.
local function storeLimits(root, id, timeoutMs, deadlineAt)
  local x = root .. ':x:' .. id
  if timeoutMs ~= '' then redis.call('HSET', x, 'timeoutMs', timeoutMs) end
  if deadlineAt ~= '' then
    redis.call('HSET', x, 'deadlineAt', deadlineAt)
    redis.call('ZADD', root .. ':deadlines', deadlineAt, id)
  end
end

-- Why a leased attempt must end now, in words; false if it may continue. The first reason stays for this attempt.
local function limitReached(x, attempt, now)
  local limits = redis.call('HMGET', x, 'limitReached', 'deadlineAt', 'timeoutMs')
  if limits[1] then return limits[1] end
  local reason = false
  if limits[2] and now >= tonumber(limits[2]) then
    reason = 'its deadline has passed'
  elseif limits[3] then
    local since = redis.call('HGET', x .. ':attempts', attempt .. ':confirmedAt')
    if since and now >= since + limits[3] then
      reason = 'the attempt ran longer than its timeout of ' .. (limits[3] / 1000) .. ' s'
    end
  end
  if reason then redis.call('HSET', x, 'limitReached', reason) end
  return reason
end
