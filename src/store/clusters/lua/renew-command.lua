#!lua flags=allow-oom
-- Keeps a command that is being carried out, or lets it go.
--
-- KEYS[1]   root of all keys
-- ARGV      1 id, 2 token, 3 leaseMs (0: let go, another may take it at once)
-- Returns   1, or 0 where another has it or it is over
-- Events    PUBLISH wake 'command' where it was let go
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
