-- Adds a delayed job for each experiment that has none, as BullMQ adds them, but all in one call and without the events
-- `added` and `delayed`, which no process reads. A test compares the jobs with those that BullMQ adds.
--
-- KEYS   1 delayed, 2 marker
-- ARGV   1 prefix of a job's key, 2 name, 3 options (JSON), 4 time (ms), 5 delay (ms), 6… ids
local due = ARGV[4] + ARGV[5]
for i = 6, #ARGV do
  local job = ARGV[1] .. ARGV[i]
  if redis.call('EXISTS', job) == 0 then
    redis.call('HSET', job, 'name', ARGV[2], 'data', '{}', 'opts', ARGV[3], 'timestamp', ARGV[4], 'delay', ARGV[5],
      'priority', '0')
    -- BullMQ numbers the jobs of a millisecond in the last 12 bits; these have no order.
    redis.call('ZADD', KEYS[1], string.format('%.0f', due * 4096), ARGV[i])
  end
end
-- Tells idle workers when the next job is due.
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if first[2] then redis.call('ZADD', KEYS[2], first[2] / 4096, '1') end
