#!lua
-- Runs failed children of a sweep again, each as a new experiment in the place of the failed one; those that did not
-- fail, or were run again already, are passed over.
--
-- KEYS[1]   root of all keys
-- ARGV      1 sweep, 2 '1' where new work is accepted, 3 version of a record's layout, 4 experiments of a project that
--           may wait, then for each child: index, number of the new run, id of the failed run, and its arguments (see
--           redis/lua/create.lua)
-- Returns   {'ok', ids of the new experiments…}
-- Errors    {'cancelled'}: the sweep is cancelled or gone; {'full'}; {'closed', who closed its queue (JSON)};
--           {'queue-full'}: too many of its project would wait
-- Events    state: null -> queued of each; PUBLISH wake 'queue'
-- include time
-- include state
-- include create
-- include admit

-- Of each child, those that wait for it: read once, however many run again. Empty where none was ever given up.
local function waitingFor(s)
  local waiting = {}
  if redis.call('HGET', s, 'skipped') == false then return waiting end
  local after = redis.call('HGETALL', s .. ':after')
  for at = 1, #after, 2 do
    local index = after[at + 1]
    waiting[index] = waiting[index] or {}
    table.insert(waiting[index], after[at])
  end
  return waiting
end

-- How many of these children were given up.
local function givenUp(s, children)
  local count = 0
  for _, child in ipairs(children) do count = count + redis.call('HEXISTS', s .. ':settled', child) end
  return count
end

-- Children that were given up since the one that they wait for failed wait for it again.
local function holdAgain(s, children)
  for _, child in ipairs(children) do
    if redis.call('HDEL', s .. ':settled', child) == 1 then
      redis.call('HINCRBY', s, 'skipped', -1)
      redis.call('HINCRBY', s, 'held', 1)
      redis.call('HINCRBY', s, 'open', 1)
    end
  end
end

local root, id = KEYS[1], ARGV[1]
local s = root .. ':sweep:' .. id
local record = redis.call('HMGET', s, 'state', 'project')
if not record[1] or record[1] == 'cancelled' then return { 'cancelled' } end
if ARGV[2] ~= '1' then return { 'full' } end
local closed = closedBy(root, record[2])
if closed then return { 'closed', closed } end

-- Where those that failed begin in ARGV, and how many children would wait again with them.
local failed, count, waiting = {}, 0, nil
for at = 5, #ARGV, CHILD_SIZE + 3 do
  local latest = redis.call('HGET', s .. ':runs', ARGV[at]) or '0'
  local state = redis.call('HGET', root .. ':x:' .. ARGV[at + 2], 'state')
  if state == 'failed' and tonumber(latest) == ARGV[at + 1] - 1 then
    waiting = waiting or waitingFor(s)
    failed[#failed + 1] = at
    count = count + 1 + givenUp(s, waiting[ARGV[at]] or {})
  end
end
if #failed > 0 and not hasRoom(root, record[2], count, ARGV[4]) then return { 'queue-full' } end
local now, answer = nowMs(), { 'ok' }
for _, at in ipairs(failed) do
  local index, run = ARGV[at], ARGV[at + 1]
  redis.call('HSET', s .. ':runs', index, run)
  -- The failed run counts no longer: it is final, so nothing will move it again.
  redis.call('HINCRBY', s, 'n:failed', -1)
  redis.call('HINCRBY', s, 'open', 1)
  redis.call('HSET', s, 'state', 'running', 'reason', 'failed children run again')
  redis.call('HDEL', s, 'endedAt')
  holdAgain(s, waiting[index] or {})
  createWaiting(root, childAt(at + 3, { project = record[2], version = ARGV[3], now = now, sweep = id,
    index = index, reason = 'run ' .. run .. ' of child ' .. index .. ' of ' .. id }))
  answer[#answer + 1] = ARGV[at + 3]
end
countToCome(root, s)
if #answer > 1 then redis.call('PUBLISH', root .. ':wake', 'queue') end
return answer
