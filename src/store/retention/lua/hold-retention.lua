#!lua flags=allow-oom
-- Leases the work of retention to one dispatcher; 0 ms releases it.
--
-- KEYS[1]   root of all keys
-- ARGV      1 dispatcher, 2 ms
-- Returns   1, or 0 if another dispatcher has the lease

local key = KEYS[1] .. ':retention'
if ARGV[2] == '0' then
  if redis.call('GET', key) ~= ARGV[1] then return 0 end
  redis.call('DEL', key)
  return 1
end
local holder = redis.call('GET', key)
-- A lease that lasts longer than leases do was dated by a clock that had leapt.
if holder and holder ~= ARGV[1] and redis.call('PTTL', key) <= tonumber(ARGV[2]) then return 0 end
redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
return 1
