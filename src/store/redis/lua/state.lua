-- Needs time.
-- include bytes
-- include feed
-- include freed
-- include queue
-- include to-come
-- include usage
local HELD = { launching = true, running = true, cancelling = true }

-- True if the token is the lease of that attempt of the record at `x`.
local function holds(x, attempt, token)
  local record = redis.call('HMGET', x, 'state', 'attempt', 'token')
  return record[1] and HELD[record[1]] and record[2] == attempt and record[3] == token
end

local SWEEP_COUNTS = { 'queued', 'launching', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled' }

-- Publishes the number of a sweep's children in each state.
local function publishSweep(root, project, sweep, now)
  local s, counts = root .. ':sweep:' .. sweep, {}
  for i, state in ipairs(SWEEP_COUNTS) do
    counts[i] = '"' .. state .. '":' .. int(tonumber(redis.call('HGET', s, 'n:' .. state) or '0'))
  end
  local record = redis.call('HMGET', s, 'name', 'state')
  local event = '{"type":"sweep","state":' .. cjson.encode(record[2] or '') .. ',"counts":{'
    .. table.concat(counts, ',') .. '}}'
  publishToFeeds(root, { project = project, sweep = sweep, name = record[1], at = now, event = event })
end

-- Counts the end of a child; with the last one, the sweep is done.
local function closeChild(root, s, now)
  if redis.call('HINCRBY', s, 'open', -1) > 0 then return end
  redis.call('HSET', s, 'endedAt', int(now))
  if redis.call('HGET', s, 'state') == 'running' then
    redis.call('HSET', s, 'state', 'done', 'reason', 'every child has ended')
  end
  countToCome(root, s)
end

-- Counts a child's change of state in its sweep; the sweep ends with its last child. `open`: children that are not final;
-- `held`: children that depend on another child; `ends`: ends of children of a comparison, or while others
-- depended on them.
local function countInSweep(root, sweep, change)
  local s = root .. ':sweep:' .. sweep
  if redis.call('EXISTS', s) == 0 then return end
  if change.from then redis.call('HINCRBY', s, 'n:' .. change.from, -1) end
  redis.call('HINCRBY', s, 'n:' .. change.to, 1)
  if change.to == 'queued' or HELD[change.to] then return end
  local held = redis.call('HMGET', s, 'held', 'seq', 'state', 'comparison')
  if held[4] and held[4] ~= '' then
    redis.call('HINCRBY', s, 'ends', 1)
    redis.call('ZADD', root .. ':comparison-work', held[2], sweep)
  end
  if held[1] and tonumber(held[1]) > 0 and held[3] == 'running' then
    redis.call('HINCRBY', s, 'ends', 1)
    redis.call('ZADD', root .. ':sweep-work', held[2], sweep)
    redis.call('PUBLISH', root .. ':wake', 'sweep')
  end
  closeChild(root, s, change.now)
end

-- Changes the state of an experiment: record, indexes, its sweep's counts, event, notification of followers.
-- change: from (false for a new record, which has its state already), to, attempt (string), reason, now (ms);
--         place: seq, project, sweep or false, name and priority, if the caller has them already
local function moveState(root, id, change)
  local x = root .. ':x:' .. id
  local place = change.place or redis.call('HMGET', x, 'seq', 'project', 'sweep', 'name', 'priority')
  if change.from == 'queued' then dequeue(root, id, place[2]) end
  if change.to == 'queued' then enqueue(root, id, place[2], queueScore(place[1], place[5])) end
  if change.from then
    redis.call('ZREM', root .. ':state:' .. change.from, id)
    redis.call('ZREM', root .. ':project-state:' .. change.from .. ':' .. place[2], id)
  end
  redis.call('ZADD', root .. ':state:' .. change.to, place[1], id)
  redis.call('ZADD', root .. ':project-state:' .. change.to .. ':' .. place[2], place[1], id)
  if change.from then redis.call('HSET', x, 'state', change.to, 'reason', change.reason) end
  if change.to ~= 'queued' and not HELD[change.to] then
    redis.call('ZADD', root .. ':archiving', int(change.now), id)
    redis.call('ZREM', root .. ':deadlines', id)
  end
  if place[3] then countInSweep(root, place[3], change) end
  local from = change.from and ('"' .. change.from .. '"') or 'null'
  local event = '{"type":"state","from":' .. from .. ',"to":"' .. change.to .. '","attempt":' .. change.attempt
    .. ',"reason":' .. cjson.encode(change.reason) .. '}'
  local bytes = addEntry(x, change.attempt .. '-*', 't', 'state', 'a', int(change.now), 'd', event)
  countStream(root, place[2], x, bytes)
  if change.from then redis.call('PUBLISH', x .. ':changed', change.to) end
  publishToFeeds(root, { project = place[2], experiment = id, name = place[4], sweep = place[3], at = change.now, event = event })
  if place[3] and change.to ~= 'queued' and not HELD[change.to] then
    publishSweep(root, place[2], place[3], change.now)
  end
end

-- Frees the allocation of an experiment, if it has one, and counts what it took. An allocation that was decided on the older state stays valid, so
-- this raises a counter of its own and not the version that allocations name.
local function freeAllocation(root, id, cluster)
  if not cluster then return end
  local key = root .. ':allocations:' .. cluster
  local allocation = redis.call('HGET', key, id)
  if not allocation then return end
  countUsage(root, id, cluster, allocation)
  redis.call('HDEL', root .. ':leaving', id)
  redis.call('HDEL', key, id)
  noteFreed(root, cluster, id .. ' ' .. allocation)
  redis.call('HINCRBY', root .. ':versions', 'freed:' .. cluster, 1)
end
