-- Batches that wait for verification: {root}:pending has when each may be taken, {root}:pending:turns its turn, and
-- {root}:pending:projects the last turn of each project ('': the last one that was taken). Projects take turns, so that a
-- backlog of one delays no other.

-- Makes a batch pending, unless it is. Returns whether it became so. Needs time.
local function addPending(root, project, member)
  local pending = root .. ':pending'
  if redis.call('ZADD', pending, 'NX', int(nowMs()), member) == 0 then return false end
  local last = redis.call('HMGET', pending .. ':projects', '', project)
  local turn = math.max(tonumber(last[1] or '0'), tonumber(last[2] or '0')) + 1
  redis.call('HSET', pending .. ':projects', project, int(turn))
  redis.call('ZADD', pending .. ':turns', int(turn), member)
  return true
end

-- Removes batches of which nothing is to be verified.
local function dropPending(root, ...)
  local pending = root .. ':pending'
  redis.call('ZREM', pending, ...)
  redis.call('ZREM', pending .. ':turns', ...)
  redis.call('HDEL', pending .. ':begun', ...)
  if redis.call('EXISTS', pending) == 0 then redis.call('DEL', pending .. ':projects') end
end
