#!lua flags=allow-oom
-- Records the end of an attempt and frees its lease and allocation: a final state, or back into the queue at the old
-- position. While cancelling, every decision is recorded as cancelled: the driver has ended, and the user asked for it.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 attempt, 3 token, 4 the decided state, 5 reason, 6 states that it may follow (a,b,…),
--           7 the next attempt is numbered above this (0: above the current one), 8 delay of the next attempt (ms),
--           9 '1' if it is quarantined
-- Returns   {'ok', the recorded state}; {'ok', 'cancelling'}: with 7, nothing was changed, because a cancel came first
--           and a higher attempt may still run
-- Errors    {'lost'}; {'illegal', state}: the decision must not follow the current state
-- Events    state; PUBLISH wake 'queue'
-- include time
-- include state
-- include pace
-- include suspects

local root, id, to = KEYS[1], ARGV[1], ARGV[4]
local x = root .. ':x:' .. id
if not holds(x, ARGV[2], ARGV[3]) then return { 'lost' } end
local record = redis.call('HMGET', x, 'state', 'cluster', 'limitReached', 'project')
local from, decided = record[1], ARGV[5]
if from == 'cancelling' then
  if tonumber(ARGV[7]) > 0 then return { 'ok', from } end
  to = 'cancelled'
elseif not string.find(',' .. ARGV[6] .. ',', ',' .. from .. ',', 1, true) then
  return { 'illegal', from }
end
-- After a limit was reached there is no next attempt. If a higher attempt may run, that one must be found first.
if to == 'queued' and record[3] and tonumber(ARGV[7]) == 0 then
  to, decided = 'failed', record[3] .. '; ' .. decided
end

local now = nowMs()
redis.call('ZREM', root .. ':leases', id)
if redis.call('ZREM', root .. ':runs', id) == 1 then redis.call('SREM', root .. ':runs:' .. record[4], id) end
settle(root, id)
freeAllocation(root, id, record[2])
redis.call('HDEL', x, 'token', 'dispatcher', 'confirmed', 'open')
if to == 'queued' then
  if tonumber(ARGV[7]) > tonumber(ARGV[2]) then redis.call('HSET', x, 'attempt', ARGV[7]) end
  if tonumber(ARGV[8]) > 0 then redis.call('HSET', x, 'notBefore', int(now + ARGV[8])) end
else
  if to == 'failed' and ARGV[9] == '1' then redis.call('HSET', x, 'quarantined', '1') end
  redis.call('HSET', x, 'endedAt', int(now))
end
-- An experiment that a rule stopped names the rule instead of the caller of a cancel.
local stop = to == 'cancelled' and redis.call('HGET', x, 'stopReason')
local reason = stop and (stop .. string.gsub(decided, '^cancelled', '')) or decided
-- The durations of finished children predict those of the others.
local child = to == 'succeeded' and ARGV[2] == '1' and redis.call('HMGET', x, 'sweep', 'startedAt')
if child and child[1] and child[2] then
  local s = root .. ':sweep:' .. child[1]
  if redis.call('EXISTS', s) == 1 then
    redis.call('HSET', s, 'lengths', withMeasurement(redis.call('HGET', s, 'lengths'), now - child[2]))
  end
end
moveState(root, id, { from = from, to = to, attempt = ARGV[2], reason = reason, now = now })
redis.call('PUBLISH', root .. ':wake', 'queue')
return { 'ok', to }
