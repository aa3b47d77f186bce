#!lua flags=allow-oom
-- Releases batches that were taken for verification. The lease holder is alive, so its starts no longer count as deaths.
--
-- KEYS[1]   root of all keys
-- ARGV      1 lease holder, 2 ms until they may be taken again, then experiment:attempt:batch of each
-- Returns   1
-- include time

local pending, holder = KEYS[1] .. ':pending', ARGV[1]
local at = int(nowMs() + ARGV[2])
for i = 3, #ARGV do
  local member = ARGV[i]
  if redis.call('ZSCORE', pending, member) then redis.call('ZADD', pending, at, member) end
  local others = {}
  for began in string.gmatch(redis.call('HGET', pending .. ':begun', member) or '', '%S+') do
    if began ~= holder then others[#others + 1] = began end
  end
  if #others == 0 then
    redis.call('HDEL', pending .. ':begun', member)
  else
    redis.call('HSET', pending .. ':begun', member, table.concat(others, ' '))
  end
end
return 1
