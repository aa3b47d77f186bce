#!lua flags=allow-oom
-- Takes batches that have no report and that nobody works on, the oldest first, for a while. How often each was taken is
-- counted: one that was taken again and again and never got a report ends its verifiers.
--
-- KEYS[1]   root of all keys
-- ARGV      1 limit, 2 leaseMs
-- Returns   for each: member of the pending set (experiment:attempt:batch), times that it was taken, this one included
-- include time

local pending = KEYS[1] .. ':pending'
local now = nowMs()
local due = redis.call('ZRANGEBYSCORE', pending, '-inf', int(now), 'LIMIT', 0, ARGV[1])
local answer = {}
for _, member in ipairs(due) do
  redis.call('ZADD', pending, int(now + ARGV[2]), member)
  answer[#answer + 1] = member
  answer[#answer + 1] = tostring(redis.call('HINCRBY', pending .. ':tries', member, 1))
end
return answer
