#!lua flags=allow-oom
-- Makes batches pending again. A report that they have stays until a better one replaces it (report.lua).
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, then attempt:batch of each
-- Returns   1
-- Events    PUBLISH wake 'batch'
-- include time

local root, pending = KEYS[1], KEYS[1] .. ':pending'
for i = 2, #ARGV do
  local member = ARGV[1] .. ':' .. ARGV[i]
  if redis.call('HEXISTS', root .. ':x:' .. ARGV[1] .. ':batches', ARGV[i]) == 1
    and redis.call('ZADD', pending, 'NX', int(nowMs()), member) == 1 then
    redis.call('HDEL', pending .. ':begun', member)
  end
end
redis.call('PUBLISH', root .. ':wake', 'batch')
return 1
