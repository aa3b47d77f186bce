#!lua
-- Runs failed children of a sweep again, each as a new experiment in the place of the failed one; those that did not
-- fail, or were run again already, are passed over.
--
-- KEYS[1]   root of all keys
-- ARGV      1 sweep, 2 '1' where new work is accepted, 3 version of a record's layout, then for each child: index,
--           number of the new run, id of the failed run, and its arguments (see include/create.lua)
-- Returns   {'ok', ids of the new experiments…}
-- Errors    {'cancelled'}: the sweep is cancelled or gone; {'full'}; {'draining', who drains its queue (JSON)}
-- Events    state: null -> queued of each; PUBLISH wake 'line'
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
local drained = drainedBy(root, record[2])
if drained then return { 'draining', drained } end
local now, answer, waiting = nowMs(), { 'ok' }, nil
for at = 4, #ARGV, CHILD_SIZE + 3 do
  local index, run = ARGV[at], ARGV[at + 1]
  local latest = redis.call('HGET', s .. ':runs', index) or '0'
  local state = redis.call('HGET', root .. ':x:' .. ARGV[at + 2], 'state')
  if state == 'failed' and tonumber(latest) == run - 1 then
    redis.call('HSET', s .. ':runs', index, run)
    -- The failed run counts no longer: it is final, so nothing will move it again.
    redis.call('HINCRBY', s, 'n:failed', -1)
    redis.call('HINCRBY', s, 'open', 1)
    redis.call('HSET', s, 'state', 'running', 'reason', 'failed children run again')
    redis.call('HDEL', s, 'endedAt')
    waiting = waiting or waitingFor(s)
    holdAgain(s, waiting[index] or {})
    createWaiting(root, childAt(at + 3, { project = record[2], version = ARGV[3], now = now, sweep = id,
      index = index, reason = 'run ' .. run .. ' of child ' .. index .. ' of ' .. id }))
    answer[#answer + 1] = ARGV[at + 3]
  end
end
if #answer > 1 then redis.call('PUBLISH', root .. ':wake', 'line') end
return answer
