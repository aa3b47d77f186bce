#!lua flags=allow-oom
-- Takes batches without a report and without a valid lease, the oldest first. Taking does not count as a start: a process
-- has died of a batch only if it began to verify it (hold-pending) and its lease expired.
--
-- KEYS[1]   root of all keys
-- ARGV      1 limit, 2 leaseMs, 3 lease holder
-- Returns   for each: member of the pending set (experiment:attempt:batch), number of other processes that began to
--           verify it and neither finished nor released it
-- include time

local pending, holder = KEYS[1] .. ':pending', ARGV[3]
local now = nowMs()
local due = redis.call('ZRANGEBYSCORE', pending, '-inf', int(now), 'LIMIT', 0, ARGV[1])
local answer = {}
for _, member in ipairs(due) do
  redis.call('ZADD', pending, int(now + ARGV[2]), member)
  local deaths = 0
  for began in string.gmatch(redis.call('HGET', pending .. ':begun', member) or '', '%S+') do
    if began ~= holder then deaths = deaths + 1 end
  end
  answer[#answer + 1] = member
  answer[#answer + 1] = tostring(deaths)
end
return answer
