#!lua flags=allow-oom
-- Begins the next delivery of a subscription, if it is due. The same messages are taken again until their delivery ends: by
-- the same process, or by the one that receives the BullMQ job after its death.
--
-- KEYS[1]   root of all keys
-- ARGV      1 subscription, 2 MAX messages of one delivery
-- Returns   {} if nothing is due, or {subscription (JSON), tries so far, the server's time, lines of the outbox...}
-- include time

local root, id = KEYS[1], ARGV[1]
local sub, due, now = root .. ':subscription:' .. id, root .. ':deliveries', nowMs()
local at = redis.call('ZSCORE', due, id)
if not at or tonumber(at) > now then return {} end
local state = redis.call('HMGET', sub, 'project', 'taking', 'tries')
local subscription = state[1] and redis.call('HGET', root .. ':subscriptions:' .. state[1], id)
local taking = tonumber(state[2] or '0')
if taking == 0 then taking = math.min(redis.call('LLEN', sub .. ':outbox'), tonumber(ARGV[2])) end
if not subscription or taking == 0 then
  redis.call('ZREM', due, id)
  return {}
end
redis.call('HSET', sub, 'taking', int(taking))
return { subscription, state[3] or '0', int(now), unpack(redis.call('LRANGE', sub .. ':outbox', 0, taking - 1)) }
