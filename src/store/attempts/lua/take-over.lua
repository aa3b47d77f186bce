#!lua flags=allow-oom
-- Takes expired leases. A confirmed attempt is kept and goes on under a new token. One that is launching and was
-- never confirmed is given up and claimed anew (attempt + 1, same reservation): its launch may still be under way
-- and has to be fenced. One that is cancelling or in quarantine and was never confirmed keeps its number: it only has
-- to be stopped.
--
-- An attempt that its dispatcher was launching or taking over is taken half a lease later than others, because a slow
-- store may have delayed the renewal. It is a suspect then (see redis/lua/suspects.lua): at most one is taken, alone, and
-- only on demand.
--
-- Where the server is not the one of the last look (a restart, a failover), no lease could be renewed for a while
-- through no fault of its holder: all start anew, once, and nothing is taken.
--
-- KEYS[1]   root of all keys
-- ARGV      1 leaseMs, 2 dispatcher, 3 reason, 4 '1' where it may take a suspect, 5 crashes that lead to quarantine,
--           then the tokens: at most so many leases are taken
-- Returns   for each: experiment, attempt, token, state, cluster, '1' confirmed or '0', last sequence number, crashes
--           (JSON; see redis/lua/suspects.lua)
-- Events    state: launching -> queued under the old attempt and queued -> launching under the new one
-- include time
-- include state
-- include server
-- include suspects

local root, leaseMs, dispatcher, limit = KEYS[1], tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[5])
local TOKENS = 5
-- Looked at in one call beside those that may be taken: attempts that are not to be taken yet.
local HELD_BACK = 1000
local leases, suspects = root .. ':leases', root .. ':suspects'
local now = nowMs()
local expiry = int(now + leaseMs)
local steady = answersSteadily(root, now, leaseMs)

local server = serverRun()
if server ~= redis.call('GET', root .. ':server') then
  redis.call('SET', root .. ':server', server)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', leases, '(0', '(' .. expiry)) do
    redis.call('ZADD', leases, expiry, id)
  end
end

local answer, taken = {}, 0

local function take(id)
  taken = taken + 1
  local x = root .. ':x:' .. id
  local record = redis.call('HMGET', x, 'state', 'attempt', 'cluster', 'confirmed')
  local state, attempt, confirmed = record[1], record[2], record[4] == '1'
  local token = ARGV[TOKENS + taken]
  redis.call('HSET', x, 'token', token, 'dispatcher', dispatcher)
  redis.call('ZADD', leases, expiry, id)
  local _, launches = crashesOf(x, 'launch')
  local _, takeovers = crashesOf(x, 'takeover')
  if takeovers < limit then redis.call('SADD', unsettledOf(root, dispatcher), id) end
  if state == 'launching' and not confirmed and launches < limit then
    moveState(root, id, { from = state, to = 'queued', attempt = attempt, reason = ARGV[3], now = now })
    redis.call('HSET', x .. ':attempts', attempt .. ':givenUpAt', int(now))
    attempt = int(attempt + 1)
    redis.call('HSET', x, 'attempt', attempt)
    redis.call('HSET', x .. ':attempts', attempt .. ':cluster', record[3], attempt .. ':claimedAt', int(now))
    moveState(root, id, { from = 'queued', to = state, attempt = attempt, reason = ARGV[3], now = now })
  end
  local last = redis.call('HGET', x .. ':attempts', attempt .. ':last') or '0'
  local crashes = redis.call('HGET', x, 'crashes') or '[]'
  for _, value in ipairs({ id, attempt, token, state, record[3], confirmed and '1' or '0', last, crashes }) do
    answer[#answer + 1] = value
  end
end

-- Whether an expired lease may be taken: 'yes', 'alone' or 'later'.
local function mayTake(id, expired)
  local x = root .. ':x:' .. id
  local holder = redis.call('HGET', x, 'dispatcher')
  -- Left by a fault that this process survived, or lost and come back.
  if holder == dispatcher then settle(root, id) end
  if holder and redis.call('SISMEMBER', unsettledOf(root, holder), id) == 1 then
    if not steady or expired > now - leaseMs / 2 then return 'later' end
    suspectUnsettled(root, { dispatcher = holder, now = now, limit = limit })
  end
  if redis.call('SISMEMBER', suspects, id) == 0 then return 'yes' end
  local _, takeovers = crashesOf(x, 'takeover')
  -- Its events are not read any more, so it can do no harm.
  return takeovers < limit and 'alone' or 'yes'
end

local most = #ARGV - TOKENS
local due = redis.call('ZRANGEBYSCORE', leases, '-inf', int(now), 'WITHSCORES', 'LIMIT', 0,
  most + redis.call('SCARD', suspects) + HELD_BACK)
local suspect
for i = 1, #due, 2 do
  if taken == most then break end
  local may = mayTake(due[i], tonumber(due[i + 1]))
  if may == 'yes' then
    take(due[i])
  elseif may == 'alone' and not suspect then
    suspect = due[i]
  end
end
if suspect and ARGV[4] == '1' and taken < most then
  redis.call('SET', root .. ':alone:' .. dispatcher, '1', 'PX', int(leaseMs))
  if redis.call('EXISTS', unsettledOf(root, dispatcher)) == 0 then take(suspect) end
end
return answer
