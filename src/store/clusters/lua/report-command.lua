#!lua flags=allow-oom
-- Adds a line to the report of a running command. A repeated line is added once, because a command that starts again
-- repeats its lines.
--
-- KEYS[1]   root of all keys
-- ARGV      1 id, 2 token, 3 line
-- Returns   1, or 0 if the lease is lost

local command = KEYS[1] .. ':command:' .. ARGV[1]
local record = redis.call('HMGET', command, 'state', 'token')
if record[1] ~= 'running' or record[2] ~= ARGV[2] then return 0 end
if redis.call('LINDEX', command .. ':report', -1) ~= ARGV[3] then redis.call('RPUSH', command .. ':report', ARGV[3]) end
return 1
