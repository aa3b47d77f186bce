#!lua flags=allow-oom
-- Records the end of an attempt and gives back its lease and reservation: a final state, or back into the queue at
-- the old position. While cancelling, whatever the holder decided is recorded as cancelled: the driver's end is known,
-- and a cancel was promised.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 attempt, 3 token, 4 the decided state, 5 reason, 6 states that it may follow (a,b,…),
--           7 the next attempt is numbered above this (0: above the present one), 8 ms that it waits before its
--           next attempt, 9 '1' where it is quarantined
-- Returns   {'ok', the recorded state}; {'ok', 'cancelling'}: with 7, nothing was done, since a cancel came first and
--           a higher attempt may still run
-- Errors    {'lost'}; {'illegal', state}: the decision may not follow the present state
-- Events    state; PUBLISH wake 'queue'
-- include time
-- include state
-- include pace
-- include suspects

local root, id, to = KEYS[1], ARGV[1], ARGV[4]
local x = root .. ':x:' .. id
if not holds(x, ARGV[2], ARGV[3]) then return { 'lost' } end
local record = redis.call('HMGET', x, 'state', 'cluster', 'limitReached')
local from, decided = record[1], ARGV[5]
if from == 'cancelling' then
  if tonumber(ARGV[7]) > 0 then return { 'ok', from } end
  to = 'cancelled'
elseif not string.find(',' .. ARGV[6] .. ',', ',' .. from .. ',', 1, true) then
  return { 'illegal', from }
end
-- Stopped for a limit, whoever recorded it and whatever they knew of it: there is no next attempt. Where a higher one
-- may run, that one has to be met first.
if to == 'queued' and record[3] and tonumber(ARGV[7]) == 0 then
  to, decided = 'failed', record[3] .. '; ' .. decided
end

local now = nowMs()
redis.call('ZREM', root .. ':leases', id)
settle(root, id)
freeReservation(root, id, record[2])
redis.call('HDEL', x, 'token', 'dispatcher', 'confirmed', 'open')
if to == 'queued' then
  if tonumber(ARGV[7]) > tonumber(ARGV[2]) then redis.call('HSET', x, 'attempt', ARGV[7]) end
  if tonumber(ARGV[8]) > 0 then redis.call('HSET', x, 'notBefore', int(now + ARGV[8])) end
else
  if to == 'failed' and ARGV[9] == '1' then redis.call('HSET', x, 'quarantined', '1') end
  redis.call('HSET', x, 'endedAt', int(now))
end
-- What was stopped by a rule says by which, in the place of who cancelled it.
local stop = to == 'cancelled' and redis.call('HGET', x, 'stopReason')
local reason = stop and (stop .. string.gsub(decided, '^cancelled', '')) or decided
-- How long children of a sweep take says how long its others will.
local child = to == 'succeeded' and ARGV[2] == '1' and redis.call('HMGET', x, 'sweep', 'startedAt')
if child and child[1] and child[2] then
  local s = root .. ':sweep:' .. child[1]
  if redis.call('EXISTS', s) == 1 then
    redis.call('HSET', s, 'lengths', measured(redis.call('HGET', s, 'lengths'), now - child[2]))
  end
end
moveState(root, id, { from = from, to = to, attempt = ARGV[2], reason = reason, now = now })
redis.call('PUBLISH', root .. ':wake', 'queue')
return { 'ok', to }
