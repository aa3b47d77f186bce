#!lua flags=allow-oom
-- Records that a process has judged the server's clock.
--
-- KEYS[1]   root of all keys
-- ARGV      1 the server's clock as judged (ms), 2 correction as judged (ms), 3 correction from now on (ms), 4 the machine of
--           the process, 5 its uptime (ms)
-- Returns   1; 0: the correction has changed since, so the caller must read again
-- include time

local key = KEYS[1] .. ':clock'
local clock = redis.call('HMGET', key, 'seen', 'correction')
if (clock[2] or '0') ~= ARGV[2] then return 0 end
local seen = ARGV[1] + ARGV[3]
-- A later judgement is already recorded.
if clock[1] and ARGV[3] == ARGV[2] and tonumber(clock[1]) >= seen then return 1 end
redis.call('HSET', key, 'seen', int(seen), 'correction', ARGV[3], 'machine', ARGV[4], 'uptime', ARGV[5])
return 1
