#!lua flags=allow-oom
-- Extends the lease of batches that were taken; 'begin' also records the start of their verification.
--
-- KEYS[1]   root of all keys
-- ARGV      1 leaseMs, 2 lease holder, 3 'begin' or 'hold', then experiment:attempt:batch of each
-- Returns   for each: 1, or 0 if it is no longer pending
-- include time

local pending, holder = KEYS[1] .. ':pending', ARGV[2]
local ends = int(nowMs() + ARGV[1])
local answer = {}
for i = 4, #ARGV do
  local member = ARGV[i]
  local found = redis.call('ZSCORE', pending, member) and 1 or 0
  if found == 1 then
    redis.call('ZADD', pending, ends, member)
    if ARGV[3] == 'begin' then
      local begun = redis.call('HGET', pending .. ':begun', member)
      if not begun then
        redis.call('HSET', pending .. ':begun', member, holder)
      elseif not string.find(' ' .. begun .. ' ', ' ' .. holder .. ' ', 1, true) then
        redis.call('HSET', pending .. ':begun', member, begun .. ' ' .. holder)
      end
    end
  end
  answer[#answer + 1] = found
end
return answer
