#!lua flags=allow-oom
-- Finds the comparisons among the next sweeps, by arrival. An older version neither lists a comparison that it creates, nor says that
-- one of its runs has ended: both are made up for.
--
-- KEYS[1]   root of all keys
-- ARGV      1 arrival of the last examined sweep, '-inf' at the start, 2 MAX sweeps to examine
-- Returns   {arrival of the last examined sweep, number of examined sweeps}

local root = KEYS[1]
local found = redis.call('ZRANGEBYSCORE', root .. ':sweeps', '(' .. ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
for at = 1, #found, 2 do
  local id, seq = found[at], found[at + 1]
  local record = redis.call('HMGET', root .. ':sweep:' .. id, 'comparison', 'project')
  if record[1] and record[1] ~= '' then
    redis.call('ZADD', root .. ':comparisons', seq, id)
    redis.call('ZADD', root .. ':comparisons:' .. record[2], seq, id)
    redis.call('ZADD', root .. ':comparison-work', seq, id)
  end
end
return { found[#found] or ARGV[1], #found / 2 }
