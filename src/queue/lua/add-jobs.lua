-- Adds a delayed job for each experiment that has none, as BullMQ adds them, but all in one call and without the events
-- `added` and `delayed`, which no process reads. A test compares the jobs with those that BullMQ adds.
--
-- A job needs its hash and an entry in one list. If Redis has lost either, BullMQ neither delivers the job nor accepts
-- another one of its id: what is left of the job is removed first. While a job is locked, a BullMQ worker has it.
--
-- KEYS      1 delayed, 2 marker
-- ARGV      1 prefix of the queue's keys, 2 name, 3 options (JSON), 4 time (ms), 5 delay (ms), 6… ids
-- Returns   the ids of the added jobs
local prefix, due, added = ARGV[1], ARGV[4] + ARGV[5], {}
local SORTED = { 'delayed', 'prioritized', 'completed', 'failed' }
local LISTS = { 'wait', 'active', 'paused' }

local function isWhole(id)
  if redis.call('EXISTS', prefix .. id) == 0 then return false end
  if redis.call('ZSCORE', KEYS[1], id) or redis.call('ZSCORE', prefix .. 'prioritized', id) then return true end
  for _, list in ipairs(LISTS) do
    if redis.call('LPOS', prefix .. list, id) then return true end
  end
  return false
end

local function removeRest(id)
  redis.call('DEL', prefix .. id)
  for _, set in ipairs(SORTED) do redis.call('ZREM', prefix .. set, id) end
  for _, list in ipairs(LISTS) do redis.call('LREM', prefix .. list, 0, id) end
end

for i = 6, #ARGV do
  local id = ARGV[i]
  if redis.call('EXISTS', prefix .. id .. ':lock') == 0 and not isWhole(id) then
    removeRest(id)
    redis.call('HSET', prefix .. id, 'name', ARGV[2], 'data', '{}', 'opts', ARGV[3], 'timestamp', ARGV[4],
      'delay', ARGV[5], 'priority', '0')
    -- BullMQ numbers the jobs of a millisecond in the last 12 bits; these have no order.
    redis.call('ZADD', KEYS[1], string.format('%.0f', due * 4096), id)
    added[#added + 1] = id
  end
end
if #added > 0 then
  -- Tells idle workers when the next job is due.
  local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  redis.call('ZADD', KEYS[2], first[2] / 4096, '1')
end
return added
