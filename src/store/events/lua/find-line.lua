#!lua flags=no-writes
-- Finds the event in an experiment's stream from which to read a line of its log, or to count the lines before an event.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 'line' or 'entry', 3 number of the line (from 1), or a stream id
-- Returns   {id of an indexed event at or before it, or '', lines before that event, all lines, all bytes}
-- include time

local x = KEYS[1] .. ':x:' .. ARGV[1]
local lines = x .. ':lines'

local function comesAfter(id, other)
  local a, b = string.match(id, '^(%d+)-(%d+)$')
  local c, d = string.match(other, '^(%d+)-(%d+)$')
  if a ~= c then return tonumber(a) > tonumber(c) end
  if #b ~= #d then return #b > #d end
  return b > d
end

local found
if ARGV[2] == 'line' then
  found = redis.call('ZREVRANGEBYSCORE', lines, int(ARGV[3] - 1), '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
else
  local low, high = 0, redis.call('ZCARD', lines)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if comesAfter(redis.call('ZRANGE', lines, middle, middle)[1], ARGV[3]) then high = middle else low = middle + 1 end
  end
  found = low > 0 and redis.call('ZRANGE', lines, low - 1, low - 1, 'WITHSCORES') or {}
end
local sums = redis.call('HMGET', x .. ':lines:sums', 'lines', 'bytes')
return { found[1] or '', found[2] or '0', sums[1] or '0', sums[2] or '0' }
