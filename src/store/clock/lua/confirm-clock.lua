#!lua flags=allow-oom
-- An operator confirms the server's clock: the store's time becomes the server's. What ends or is due relative to the store's
-- time moves with it, so that no lease ends and no work waits by the leap.
--
-- KEYS[1]   root of all keys
-- ARGV      1 the correction that the operator saw (ms)
-- Returns   1; 0: the correction is another one by now
-- include time

local RELATIVE = { 'leases', 'allocated', 'pending', 'signals', 'signals:waits', 'runs', 'deliveries', 'waits' }
local root = KEYS[1]
local correction = redis.call('HGET', root .. ':clock', 'correction') or '0'
if correction ~= ARGV[1] then return 0 end
for _, name in ipairs(RELATIVE) do
  local key = root .. ':' .. name
  local entries = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for at = 1, #entries, 2 do
    local score = tonumber(entries[at + 1])
    -- 0: due at any time. inf: never.
    if score > 0 and score < math.huge then redis.call('ZADD', key, int(score - correction), entries[at]) end
  end
end
redis.call('HSET', root .. ':clock', 'seen', int(serverMs()), 'correction', '0')
return 1
