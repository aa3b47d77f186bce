#!lua flags=allow-oom
-- Removes the series of a finished experiment from the store after the archive has it.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 digest of the object in the archive, 3 its revision ('' without one), 4 bytes of its rows
-- Returns   'archived' | 'waiting': it has not ended, or the series has changed | 'gone': no such experiment

local x = KEYS[1] .. ':x:' .. ARGV[1]
local key = x .. ':series'
local record = redis.call('HMGET', x, 'state', 'endedAt')
if not record[1] then return 'gone' end
local same = (redis.call('HGET', key, 'revision') or '') == ARGV[3]
  and redis.call('STRLEN', key .. ':rows') == tonumber(ARGV[4])
if not record[2] or not same then return 'waiting' end
redis.call('HSET', x, 'seriesDigest', ARGV[2])
redis.call('UNLINK', key, key .. ':rows')
return 'archived'
