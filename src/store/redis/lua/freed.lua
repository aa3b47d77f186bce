-- Allocations that have just ended: {root}:freed:<cluster>, a sorted set of '<experiment> <allocation>' by the time (ms). Ray counts
-- them as used for a while, and so does the last report of its ray-worker. Expires. Needs time.

-- How long Ray may count them: a ray-worker counts as silent after the same time.
local FREED_MS = 15000
-- Newer ones matter more: an older one is in fewer reports.
local MAX_FREED = 256

local function noteFreed(root, cluster, member)
  local freed, now = root .. ':freed:' .. cluster, nowMs()
  redis.call('ZREMRANGEBYSCORE', freed, '-inf', now - FREED_MS)
  redis.call('ZADD', freed, int(now), member)
  redis.call('PEXPIRE', freed, FREED_MS)
end

local function justFreed(root, cluster)
  return redis.call('ZREVRANGEBYSCORE', root .. ':freed:' .. cluster, '+inf', '(' .. int(nowMs() - FREED_MS),
    'LIMIT', 0, MAX_FREED)
end
