#!lua flags=allow-oom
-- Cancels an experiment: at once if no dispatcher has acquired an attempt of it, else by asking the lease holder to stop
-- the driver.
--
-- KEYS[1]   root of all keys
-- ARGV      1 id, 2 reason
-- Returns   'cancelled' | 'cancelling' | 'already-final' | 'not-found'
-- Events    state: queued | launching -> cancelled (PUBLISH wake 'queue'), or launching | running -> cancelling (wake
--           'cancel')
-- include time
-- include state
-- include allocation
-- include revision

local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
local record = redis.call('HMGET', x, 'state', 'attempt')
local from = record[1]
if not from then return 'not-found' end
if from == 'cancelling' then return 'cancelling' end
local now = nowMs()
if isUnacquired(root, id, from) then
  raiseRevision(root, 'experiment', id)
  endUnacquired(root, id, { from = from, to = 'cancelled', attempt = record[2], reason = ARGV[2], now = now })
  return 'cancelled'
end
if not HELD[from] then return 'already-final' end
raiseRevision(root, 'experiment', id)
moveState(root, id, { from = from, to = 'cancelling', attempt = record[2], reason = ARGV[2], now = now })
-- An external run has no dispatcher: it is due now, so that the next one ends it.
redis.call('ZADD', root .. ':runs', 'XX', 0, id)
redis.call('PUBLISH', root .. ':wake', 'cancel')
return 'cancelling'
