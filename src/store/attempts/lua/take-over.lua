#!lua flags=allow-oom
-- Takes expired leases over. A confirmed attempt continues under a new token. An attempt that is launching and was never
-- confirmed is given up for a new one (attempt + 1, same allocation): its launch may still arrive and must be fenced. An
-- unconfirmed attempt that is cancelling or in quarantine keeps its number: it only has to be stopped.
--
-- An attempt that its dispatcher was launching or taking over is taken half a lease later than others, because a slow
-- store may have delayed the renewal. It is then a suspect (see redis/lua/suspects.lua): at most one is taken, alone, and
-- only on demand.
--
-- If the run of the server has changed (a restart, a failover), no lease could be renewed for a while. All leases are
-- extended once, and none is taken. The same if the server's clock was set back: leases would last until it has caught up.
--
-- KEYS[1]   root of all keys
-- ARGV      1 leaseMs, 2 dispatcher, 3 reason, 4 '1' if it may take a suspect, 5 crashes that lead to quarantine,
--           then a token for each lease that it may take
-- Returns   for each: experiment, attempt, token, state, cluster, '1' confirmed or '0', last sequence number, crashes
--           (JSON; see redis/lua/suspects.lua)
-- Events    state: launching -> queued under the old attempt and queued -> launching under the new one
-- include time
-- include state
-- include server
-- include suspects

local root, leaseMs, dispatcher, limit = KEYS[1], tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[5])
local TOKENS = 5
-- Expired leases to read beyond the limit: some may not be taken yet.
local MAX_DEFERRED = 1000
local leases, suspects = root .. ':leases', root .. ':suspects'
local now = nowMs()
local expiry = int(now + leaseMs)
local steady, setBack = answersSteadily(root, now, leaseMs)

local server = serverRun()
if setBack or server ~= redis.call('GET', root .. ':server') then
  redis.call('SET', root .. ':server', server)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', leases, '(0', setBack and '+inf' or '(' .. expiry)) do
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
  -- This dispatcher lost the lease by a defect that it survived.
  if holder == dispatcher then settle(root, id) end
  if holder and redis.call('SISMEMBER', unsettledOf(root, holder), id) == 1 then
    if not steady or expired > now - leaseMs / 2 then return 'later' end
    suspectUnsettled(root, { dispatcher = holder, now = now, limit = limit })
  end
  if redis.call('SISMEMBER', suspects, id) == 0 then return 'yes' end
  local _, takeovers = crashesOf(x, 'takeover')
  -- In quarantine its events are not read, so it cannot crash a dispatcher.
  return takeovers < limit and 'alone' or 'yes'
end

local max = #ARGV - TOKENS
local due = redis.call('ZRANGEBYSCORE', leases, '-inf', int(now), 'WITHSCORES', 'LIMIT', 0,
  max + redis.call('SCARD', suspects) + MAX_DEFERRED)
local suspect
for i = 1, #due, 2 do
  if taken == max then break end
  local may = mayTake(due[i], tonumber(due[i + 1]))
  if may == 'yes' then
    take(due[i])
  elseif may == 'alone' and not suspect then
    suspect = due[i]
  end
end
if suspect and ARGV[4] == '1' and taken < max then
  redis.call('SET', root .. ':alone:' .. dispatcher, '1', 'PX', int(leaseMs))
  if redis.call('EXISTS', unsettledOf(root, dispatcher)) == 0 then take(suspect) end
end
return answer
