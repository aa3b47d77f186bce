#!lua flags=allow-oom
-- Begins the next delivery of a subscription, if it is due and within its rates; else it is due when they allow it. The same messages are taken again until their delivery ends: by
-- the same process, or by the one that receives the BullMQ job after its death.
--
-- KEYS[1]   root of all keys
-- ARGV      1 subscription, 2 MAX messages of one delivery, 3 rates (JSON): for each: of, everyMs, burst
-- Returns   {} if nothing is due, or {subscription (JSON), tries so far, the server's time, lines of the outbox...}
-- include time
-- include rate

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
local rates, allowed = cjson.decode(ARGV[3]), now
for _, rate in ipairs(rates) do allowed = math.max(allowed, allowedAt(root, rate, now)) end
if allowed > now then
  redis.call('ZADD', due, int(allowed), id)
  return {}
end
for _, rate in ipairs(rates) do countOne(root, rate, now) end
redis.call('HSET', sub, 'taking', int(taking))
return { subscription, state[3] or '0', int(now), unpack(redis.call('LRANGE', sub .. ':outbox', 0, taking - 1)) }
