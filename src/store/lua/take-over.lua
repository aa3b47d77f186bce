#!lua flags=allow-oom
-- Takes expired leases. A confirmed attempt is kept and goes on under a new token. One that is launching and was
-- never confirmed is given up and claimed anew (attempt + 1, same reservation): its launch may still be under way
-- and has to be fenced. One that is cancelling and was never confirmed keeps its number: it only has to be stopped.
--
-- Where the server is not the one of the last look (a restart, a failover), no lease could be renewed for a while
-- through no fault of its holder: all start anew, once, and nothing is taken.
--
-- KEYS[1]   root of all keys
-- ARGV      1 leaseMs, 2 dispatcher, 3 reason, then the tokens: at most so many leases are taken
-- Returns   for each: experiment, attempt, token, state, cluster, '1' confirmed or '0', last sequence number, crashes
--           (JSON; see include/crashes.lua)
-- Events    state: launching -> queued under the old attempt and queued -> launching under the new one
-- include time
-- include state
-- include server
-- include crashes

local root = KEYS[1]
local leases = root .. ':leases'
local now = nowMs()
local expiry = int(now + ARGV[1])

local server = serverRun()
if server ~= redis.call('GET', root .. ':server') then
  redis.call('SET', root .. ':server', server)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', leases, '(0', '(' .. expiry)) do
    redis.call('ZADD', leases, expiry, id)
  end
end

local answer = {}
local due = redis.call('ZRANGEBYSCORE', leases, '-inf', int(now), 'LIMIT', 0, #ARGV - 3)
for i, id in ipairs(due) do
  local released = tonumber(redis.call('ZSCORE', leases, id)) == 0
  local x = root .. ':x:' .. id
  local record = redis.call('HMGET', x, 'state', 'attempt', 'cluster', 'confirmed')
  local state, attempt, confirmed = record[1], record[2], record[4] == '1'
  local token = ARGV[3 + i]
  local crashes = countCrash(x, { attempt = attempt, state = state, released = released, now = now,
    lease = tonumber(ARGV[1]) })
  redis.call('HSET', x, 'token', token, 'dispatcher', ARGV[2])
  redis.call('ZADD', leases, expiry, id)
  if state == 'launching' and not confirmed then
    moveState(root, id, { from = state, to = 'queued', attempt = attempt, reason = ARGV[3], now = now })
    redis.call('HSET', x .. ':attempts', attempt .. ':givenUpAt', int(now))
    attempt = int(attempt + 1)
    redis.call('HSET', x, 'attempt', attempt)
    redis.call('HSET', x .. ':attempts', attempt .. ':cluster', record[3], attempt .. ':claimedAt', int(now))
    moveState(root, id, { from = 'queued', to = state, attempt = attempt, reason = ARGV[3], now = now })
  end
  local last = redis.call('HGET', x .. ':attempts', attempt .. ':last') or '0'
  redis.call('HSET', x, 'heldSince', last .. ':' .. int(now))
  for _, value in ipairs({ id, attempt, token, state, record[3], confirmed and '1' or '0', last, crashes }) do
    answer[#answer + 1] = value
  end
end
return answer
