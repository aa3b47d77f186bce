#!lua flags=allow-oom
-- Removes the series of a finished experiment from the store after the archive has it.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 digest of the object in the archive, 3 fields that are in it
-- Returns   'archived' | 'waiting': it has not ended, or the series has changed | 'gone': no such experiment

local x = KEYS[1] .. ':x:' .. ARGV[1]
local record = redis.call('HMGET', x, 'state', 'endedAt')
if not record[1] then return 'gone' end
if not record[2] or redis.call('HLEN', x .. ':series') ~= tonumber(ARGV[3]) then return 'waiting' end
redis.call('HSET', x, 'seriesDigest', ARGV[2])
redis.call('UNLINK', x .. ':series', x .. ':series:open')
return 'archived'
