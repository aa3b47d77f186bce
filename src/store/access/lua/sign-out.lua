#!lua flags=allow-oom
-- Ends all sign-ins of a credential so far. Deletes sign-outs that are older than every valid cookie.
--
-- KEYS[1]   root of all keys
-- ARGV      1 credential, 2 lifetime of a sign-in (ms)
-- Returns   1
-- Events    none
-- include access

local hash = KEYS[1] .. ':signed-out'
local version = accessChanged(KEYS[1])
local all = redis.call('HGETALL', hash)
for at = 1, #all, 2 do
  if tonumber(all[at + 1]) <= version - ARGV[2] * 1000 then redis.call('HDEL', hash, all[at]) end
end
redis.call('HSET', hash, ARGV[1], string.format('%.0f', version))
return 1
