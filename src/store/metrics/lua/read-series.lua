#!lua flags=no-writes
-- Reads the parts of an experiment's series that change with a compaction, at one moment.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, then names of metrics
-- Returns   {digest of the series in the archive or '', attempts, rows (see redis/lua/series.lua), for each name its number or
--           '', for each attempt and name, name by name in each attempt, the head or ''}

local x = KEYS[1] .. ':x:' .. ARGV[1]
local key, numbers, heads = x .. ':series', {}, {}
for i = 2, #ARGV do numbers[i - 1] = redis.call('HGET', x .. ':series:names', ARGV[i]) or '' end
numbers[#numbers + 1] = '65535'
local attempts = redis.call('HGET', key, 'attempts') or ''
for attempt in string.gmatch(attempts, '(%d+):%S+') do
  for _, number in ipairs(numbers) do
    heads[#heads + 1] = redis.call('HGET', key, 'i' .. attempt .. ':' .. number) or ''
  end
end
return { redis.call('HGET', x, 'seriesDigest') or '', attempts, redis.call('GET', key .. ':rows') or '', numbers, heads }
