#!lua
-- Runs failed children of a sweep again, each as a new experiment that replaces the failed one. Children that did not fail
-- or were run again already are ignored.
--
-- KEYS[1]   root of all keys
-- ARGV      1 sweep, 2 '1' if the store accepts new work, 3 MAX queued experiments of a project, 4 MAX bytes of a
--           project without a quota of its own (0: no limit), 5 version of a record's layout, then for each child a
--           table (JSON): its fields with patch (see redis/lua/create.lua), index, run (number of the new run), failed (id of the
--           failed run)
-- Returns   {'ok', ids of the new experiments…}
-- Errors    {'cancelled'}: the sweep is cancelled or does not exist; {'full'}; {'closed', who closed its queue (JSON)};
--           {'queue-full'}: its project would have too many queued experiments; {'over-quota', bytes of its project,
--           their bound}
-- Events    state: null -> queued of each; PUBLISH wake 'queue'
-- include time
-- include state
-- include create
-- include admit

-- The dependent children of each child, read once for all reruns. Empty if none was ever skipped.
local function dependentsOf(s)
  local dependents = {}
  if redis.call('HGET', s, 'skipped') == false then return dependents end
  local after = redis.call('HGETALL', s .. ':after')
  for at = 1, #after, 2 do
    local index = after[at + 1]
    dependents[index] = dependents[index] or {}
    table.insert(dependents[index], after[at])
  end
  return dependents
end

-- How many of these children were skipped.
local function countSkipped(s, children)
  local count = 0
  for _, child in ipairs(children) do count = count + redis.call('HEXISTS', s .. ':settled', child) end
  return count
end

-- Children that were skipped because of a failed child depend on its rerun.
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

-- The children that failed, and how many experiments they and their dependents will become.
local failed, count, dependents = {}, 0, nil
for at = 6, #ARGV do
  local child = cjson.decode(ARGV[at])
  local latest = redis.call('HGET', s .. ':runs', child.index) or '0'
  local state = redis.call('HGET', root .. ':x:' .. child.failed, 'state')
  if state == 'failed' and tonumber(latest) == child.run - 1 then
    dependents = dependents or dependentsOf(s)
    failed[#failed + 1] = child
    count = count + 1 + countSkipped(s, dependents[child.index] or {})
  end
end
if #failed > 0 and not hasRoom(root, record[2], count, ARGV[3]) then return { 'queue-full' } end
local over = #failed > 0 and overQuota(root, record[2], argumentBytes(), ARGV[4])
if over then return over end
local now, answer = nowMs(), { 'ok' }
for _, child in ipairs(failed) do
  local index, run = child.index, child.run
  redis.call('HSET', s .. ':runs', index, run)
  -- The failed run no longer counts: it is final, so its state never changes again.
  redis.call('HINCRBY', s, 'n:failed', -1)
  redis.call('HINCRBY', s, 'open', 1)
  redis.call('HSET', s, 'state', 'running', 'reason', 'failed children run again')
  redis.call('HDEL', s, 'endedAt')
  holdAgain(s, dependents[index] or {})
  createChild(root, child, { project = record[2], version = ARGV[5], now = now, sweep = id,
    reason = 'run ' .. run .. ' of child ' .. index .. ' of ' .. id })
  answer[#answer + 1] = child.id
end
countToCome(root, s)
if #answer > 1 then redis.call('PUBLISH', root .. ':wake', 'queue') end
return answer
