#!lua flags=allow-oom
-- Takes expired leases over. Each attempt continues under a new token and keeps its number. The launch of an unconfirmed
-- one may still be under way: the caller sends the same launch again, and the ray-worker carries it out once. An unconfirmed
-- attempt that is cancelling or in quarantine has to be stopped.
--
-- An attempt that its dispatcher was launching or taking over is taken half a lease later than others, because a slow
-- store may have delayed the renewal. It is then a suspect (see redis/lua/suspects.lua): at most one is taken, alone, and
-- only on demand.
--
-- If the run of the server has changed (a restart, a failover), no lease could be renewed for a while. All leases are
-- extended once, and none is taken. The same if the server's clock was set back: leases would last until it has caught up.
--
-- KEYS[1]   root of all keys
-- ARGV      1 leaseMs, 2 dispatcher, 3 '1' if it may take a suspect, 4 crashes that lead to quarantine,
--           5 clusters that the dispatcher does not reach (JSON): their attempts are left to others, as are those of
--           records with a newer layout than 6,
--           then a token for each lease that it may take
-- Returns   for each: experiment, attempt, token, state, cluster, '1' confirmed or '0', last sequence number, crashes
--           (JSON; see redis/lua/suspects.lua)
-- include time
-- include server
-- include suspects

local root, leaseMs, dispatcher, limit = KEYS[1], tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[4])
local TOKENS, layout = 6, tonumber(ARGV[6])
-- Expired leases to read beyond the limit: some may not be taken yet.
local MAX_DEFERRED = 1000
local leases, suspects = root .. ':leases', root .. ':suspects'
local unreached = {}
for _, cluster in ipairs(cjson.decode(ARGV[5])) do unreached[cluster] = true end
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
  local _, takeovers = crashesOf(x, 'takeover')
  if takeovers < limit then redis.call('SADD', unsettledOf(root, dispatcher), id) end
  local last = redis.call('HGET', x .. ':attempts', attempt .. ':last') or '0'
  local crashes = redis.call('HGET', x, 'crashes') or '[]'
  for _, value in ipairs({ id, attempt, token, state, record[3], confirmed and '1' or '0', last, crashes }) do
    answer[#answer + 1] = value
  end
end

-- Whether an expired lease may be taken: 'yes', 'alone' or 'later'.
local function mayTake(id, expired)
  local x = root .. ':x:' .. id
  if unreached[redis.call('HGET', x, 'cluster')] then return 'later' end
  if tonumber(redis.call('HGET', x, 'version') or '1') > layout then return 'later' end
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
if suspect and ARGV[3] == '1' and taken < max then
  redis.call('SET', root .. ':alone:' .. dispatcher, '1', 'PX', int(leaseMs))
  if redis.call('EXISTS', unsettledOf(root, dispatcher)) == 0 then take(suspect) end
end
return answer
