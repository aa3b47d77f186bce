#!lua flags=allow-oom
-- Renews or releases the lease of a running command.
--
-- KEYS[1]   root of all keys
-- ARGV      1 id, 2 token, 3 leaseMs (0: release, another dispatcher may take it at once)
-- Returns   1, or 0 if the lease is lost
-- Events    PUBLISH wake 'command' if it was released
-- include time

local command = KEYS[1] .. ':command:' .. ARGV[1]
local record = redis.call('HMGET', command, 'state', 'token')
if record[1] ~= 'running' or record[2] ~= ARGV[2] then return 0 end
redis.call('HSET', command, 'until', int(nowMs() + ARGV[3]))
if ARGV[3] == '0' then
  redis.call('HDEL', command, 'token')
  redis.call('PUBLISH', KEYS[1] .. ':wake', 'command')
end
return 1
