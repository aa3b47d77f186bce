#!lua flags=allow-oom
-- Adds a line to the report of a command that is being carried out. The same line twice in a row is one: a command that
-- is begun again repeats itself.
--
-- KEYS[1]   root of all keys
-- ARGV      1 id, 2 token, 3 line
-- Returns   1, or 0 where another has it or it is over

local command = KEYS[1] .. ':command:' .. ARGV[1]
local record = redis.call('HMGET', command, 'state', 'token')
if record[1] ~= 'running' or record[2] ~= ARGV[2] then return 0 end
if redis.call('LINDEX', command .. ':report', -1) ~= ARGV[3] then redis.call('RPUSH', command .. ':report', ARGV[3]) end
return 1
