#!lua flags=allow-oom
-- Leases the work of retention to one dispatcher; 0 ms releases it.
--
-- KEYS[1]   root of all keys
-- ARGV      1 dispatcher, 2 ms
-- Returns   1, or 0 if another dispatcher has the lease

local key = KEYS[1] .. ':retention'
local holder = redis.call('GET', key)
if holder and holder ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then
  redis.call('DEL', key)
else
  redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
end
return 1
