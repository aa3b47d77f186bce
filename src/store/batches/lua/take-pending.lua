#!lua flags=allow-oom
-- Takes batches without a report and without a valid lease, by the turns of their projects and the
-- oldest of each first. Taking does not count as a start: a process has died of a batch only if it began to verify it
-- (hold-pending) and its lease expired.
--
-- KEYS[1]   root of all keys
-- ARGV      1 limit, 2 leaseMs, 3 lease holder
-- Returns   for each: member of the pending set (experiment:attempt:batch), number of other processes that began to
--           verify it and neither finished nor released it
-- include time

local pending, holder, limit = KEYS[1] .. ':pending', ARGV[3], tonumber(ARGV[1])
local now = nowMs()
local answer = {}

local function take(member)
  redis.call('ZADD', pending, int(now + ARGV[2]), member)
  local deaths = 0
  for began in string.gmatch(redis.call('HGET', pending .. ':begun', member) or '', '%S+') do
    if began ~= holder then deaths = deaths + 1 end
  end
  answer[#answer + 1] = member
  answer[#answer + 1] = tostring(deaths)
end

-- Those that have a lease or rest for a while stay in their turns, and are passed.
local MAX_PASSED = 1000
local turns = redis.call('ZRANGE', pending .. ':turns', 0, MAX_PASSED + limit - 1, 'WITHSCORES')
for i = 1, #turns, 2 do
  local due = #answer < 2 * limit and redis.call('ZSCORE', pending, turns[i])
  if due and tonumber(due) <= now then
    take(turns[i])
    local last = redis.call('HGET', pending .. ':projects', '') or '0'
    redis.call('HSET', pending .. ':projects', '', int(math.max(tonumber(turns[i + 1]), tonumber(last))))
  end
end
-- More than MAX_PASSED may rest before one that is due.
local left = int(limit - #answer / 2)
for _, member in ipairs(redis.call('ZRANGEBYSCORE', pending, '-inf', int(now), 'LIMIT', 0, left)) do take(member) end
return answer
