#!lua flags=allow-oom
-- Makes a dispatcher the one that applies retention, for a while.
--
-- KEYS[1]   root of all keys
-- ARGV      1 dispatcher, 2 ms
-- Returns   1, or 0 where another is

local key = KEYS[1] .. ':retention'
local holder = redis.call('GET', key)
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
return 1
