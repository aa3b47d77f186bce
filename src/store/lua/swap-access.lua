#!lua flags=allow-oom
-- Sets, changes or removes one entry of the hash of projects or of API keys, where it still is what the caller read.
--
-- KEYS[1]   root of all keys
-- ARGV      1 'projects' or 'api-keys', 2 field, 3 what it was read as ('' for none), 4 what it becomes ('' to remove)
-- Returns   1, or 0 where it is another by now and nothing was changed
--
-- The counter tells every process that its copy of the entries is old.

local hash = KEYS[1] .. ':' .. ARGV[1]
if (redis.call('HGET', hash, ARGV[2]) or '') ~= ARGV[3] then return 0 end
if ARGV[4] == '' then
  redis.call('HDEL', hash, ARGV[2])
else
  redis.call('HSET', hash, ARGV[2], ARGV[4])
end
redis.call('INCR', KEYS[1] .. ':access-version')
return 1
