#!lua flags=allow-oom
-- Records the end of an attempt and frees its lease and allocation: a final state, or back into the queue at the old
-- position. While cancelling, every decision is recorded as cancelled: the driver has ended, and the user asked for it.
--
-- KEYS[1]   root of all keys
-- ARGV[1]   table (JSON): experiment, attempt (string), token, to (the decided state), reason, after (states that it may
--           follow: ',a,b,'), attemptsAbove (the next attempt is numbered above this; 0: above the current one), waitMs (delay
--           of the next attempt), waitsFor (why, in words), avoid (nodes, if
--           the next attempt prefers others), portable (the checkpoint binds it to no cluster), quarantined, ended (JSON: how the
--           attempt ended, if its events do not say it)
-- Returns   {'ok', the recorded state}; {'ok', 'cancelling'}: with attemptsAbove, nothing was changed, because a cancel came
--           first and a higher attempt may still run
-- Errors    {'lost'}; {'illegal', state}: the decision must not follow the current state
-- Events    state; PUBLISH wake 'queue'
-- include time
-- include state
-- include pace
-- include suspects

local ended = cjson.decode(ARGV[1])
local root, id, attempt, to = KEYS[1], ended.experiment, ended.attempt, ended.to
local x = root .. ':x:' .. id
if not holds(x, attempt, ended.token) then return { 'lost' } end
local record = redis.call('HMGET', x, 'state', 'cluster', 'limitReached', 'project')
local from, decided = record[1], ended.reason
if from == 'cancelling' then
  if ended.attemptsAbove > 0 then return { 'ok', from } end
  to = 'cancelled'
elseif not string.find(ended.after, ',' .. from .. ',', 1, true) then
  return { 'illegal', from }
end
-- After a limit was reached there is no next attempt. If a higher attempt may run, that one must be found first.
if to == 'queued' and record[3] and ended.attemptsAbove == 0 then
  to, decided = 'failed', record[3] .. '; ' .. decided
end

local now = nowMs()
redis.call('ZREM', root .. ':leases', id)
if ended.ended then redis.call('HSET', x .. ':attempts', attempt .. ':ended', ended.ended) end
if redis.call('ZREM', root .. ':runs', id) == 1 then
  redis.call('SREM', root .. ':runs:' .. record[4], id)
  -- The client of an external run does not know of the cancel, so its record names the caller of the cancel.
  if from == 'cancelling' then decided = redis.call('HGET', x, 'reason') or decided end
end
settle(root, id)
freeAllocation(root, id, record[2])
redis.call('HDEL', x, 'token', 'dispatcher', 'confirmed', 'open')
if to == 'queued' then
  if ended.attemptsAbove > tonumber(attempt) then redis.call('HSET', x, 'attempt', int(ended.attemptsAbove)) end
  if ended.waitMs > 0 then redis.call('HSET', x, 'notBefore', int(now + ended.waitMs), 'waitsFor', ended.waitsFor) end
  if ended.portable then redis.call('HDEL', x, 'checkpointCluster') end
  if ended.avoid then redis.call('HSET', x, 'avoid', cjson.encode(ended.avoid)) end
else
  if to == 'failed' and ended.quarantined then redis.call('HSET', x, 'quarantined', '1') end
  redis.call('HSET', x, 'endedAt', int(now))
end
-- An experiment that a rule stopped names the rule instead of the caller of a cancel.
local stop = to == 'cancelled' and redis.call('HGET', x, 'stopReason')
local reason = stop and (stop .. string.gsub(decided, '^cancelled', '')) or decided
-- The durations of finished children predict those of the others.
local child = to == 'succeeded' and attempt == '1' and redis.call('HMGET', x, 'sweep', 'startedAt')
if child and child[1] and child[2] then
  local s = root .. ':sweep:' .. child[1]
  if redis.call('EXISTS', s) == 1 then
    redis.call('HSET', s, 'lengths', withMeasurement(redis.call('HGET', s, 'lengths'), now - child[2]))
  end
end
moveState(root, id, { from = from, to = to, attempt = attempt, reason = reason, now = now })
redis.call('PUBLISH', root .. ':wake', 'queue')
return { 'ok', to }
