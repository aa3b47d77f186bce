#!lua flags=allow-oom
-- Allocates GPUs and CPUs to the queued experiments that one scheduling round starts, and takes each out of the queue:
-- attempt + 1, allocation, and an entry in {root}:allocated until a dispatcher acquires the attempt (acquire.lua).
--
-- KEYS[1]   root of all keys
-- ARGV      1 id of this call (made by the caller, so that a repeated call finds its own allocations), then for each
--           start: experiment, cluster, allocation (JSON), reason, version of the cluster's allocations as read,
--           version of its project's allocations as read, or '' if the project has no quota
-- Returns   for each start: 'allocated'; 'not-queued', also if its deadline has passed (it has failed then); 'changed':
--           the allocations of the cluster or the project have changed since the caller read them, or nothing may start
-- Events    state: queued -> launching, under the new attempt. No wake-up is sent: no capacity becomes free.
-- include time
-- include state
-- include allocation

local root, now = KEYS[1], nowMs()
local SIZE = 6

-- Whether a version is still the one that the caller read: compared once, before this call changes it.
local compared = {}
local function isAsRead(name, version)
  if compared[name] == nil then compared[name] = (redis.call('HGET', root .. ':versions', name) or '0') == version end
  return compared[name]
end

local function mayStart(cluster, project, start)
  if not isAsRead(cluster, start.version) then return false end
  if start.projectVersion ~= '' and not isAsRead(project, start.projectVersion) then return false end
  if redis.call('SISMEMBER', root .. ':clusters:draining', cluster) == 1 then return false end
  local paused = redis.call('HMGET', root .. ':paused', 'all', project, 'cluster:' .. cluster)
  return not (paused[1] or paused[2] or paused[3])
end

local function allocate(id, cluster, start)
  local x = root .. ':x:' .. id
  local record = redis.call('HMGET', x, 'state', 'attempt', 'allocation', 'deadlineAt', 'project')
  if record[1] == 'launching' and record[3] == ARGV[1] then return 'allocated' end
  if record[1] ~= 'queued' then return 'not-queued' end
  if record[4] and now >= tonumber(record[4]) then
    failPastDeadline(root, id, { state = 'queued', attempt = record[2] }, now)
    return 'not-queued'
  end
  local project = 'project:' .. record[5]
  if not mayStart(cluster, project, start) then return 'changed' end
  local attempt = int(record[2] + 1)
  redis.call('HSET', x, 'attempt', attempt, 'cluster', cluster, 'allocation', ARGV[1])
  redis.call('HDEL', x, 'confirmed', 'waitReason', 'waitRank', 'waitEstimate', 'open', 'notBefore', 'waitsFor', 'avoid', 'limitReached')
  redis.call('HSET', x .. ':attempts', attempt .. ':cluster', cluster, attempt .. ':claimedAt', int(now))
  redis.call('HSET', root .. ':allocations:' .. cluster, id, start.allocation)
  redis.call('HINCRBY', root .. ':versions', cluster, 1)
  redis.call('HINCRBY', root .. ':versions', project, 1)
  redis.call('ZADD', root .. ':allocated', int(now), id)
  moveState(root, id, { from = 'queued', to = 'launching', attempt = attempt, reason = start.reason, now = now })
  return 'allocated'
end

local outcomes = {}
for at = 2, #ARGV, SIZE do
  outcomes[#outcomes + 1] = allocate(ARGV[at], ARGV[at + 1], { allocation = ARGV[at + 2], reason = ARGV[at + 3],
    version = ARGV[at + 4], projectVersion = ARGV[at + 5] })
end
return outcomes
