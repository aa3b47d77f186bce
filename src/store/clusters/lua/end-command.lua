#!lua flags=allow-oom
-- Ends a command. Its secret is deleted; its record expires later.
--
-- KEYS[1]   root of all keys
-- ARGV      1 id, 2 token, 3 state, 4 problems (JSON), 5 lifetime of the record (s), 6 findings (JSON)
-- Returns   1, or 0 if the lease is lost
-- Events    PUBLISH wake 'command': the next command of the cluster may begin
-- include time

local root, id = KEYS[1], ARGV[1]
local command = root .. ':command:' .. id
local record = redis.call('HMGET', command, 'state', 'token')
if record[1] ~= 'running' or record[2] ~= ARGV[2] then return 0 end
redis.call('HSET', command, 'state', ARGV[3], 'problems', ARGV[4], 'endedAt', int(nowMs()), 'findings', ARGV[6])
redis.call('HDEL', command, 'secret', 'token')
redis.call('ZREM', root .. ':commands', id)
redis.call('EXPIRE', command, ARGV[5])
redis.call('EXPIRE', command .. ':report', ARGV[5])
redis.call('PUBLISH', root .. ':wake', 'command')
return 1
