#!lua
-- Settles children of a sweep that depend on another child: a child becomes an experiment if the other has succeeded, and
-- is skipped if the other has ended otherwise. All other children are ignored.
--
-- KEYS[1]   root of all keys
-- ARGV      1 sweep, 2 '1' if the store accepts new work, 3 MAX bytes of a project without a quota of its own (0: no limit),
--           4 version of a record's layout, 5 the sweep's `ends` before the states were read, '' if more calls follow, then
--           for each child a table (JSON): its fields with patch (see redis/lua/create.lua), index, and afterRun and
--           afterExperiment of the child that it depends on
-- Returns   {'ok', ids of the new experiments…}
-- Errors    {'moved'}: the sweep is cancelled or does not exist; {'full'}, also if its project is over its quota
-- Events    state: null -> queued of each; PUBLISH wake 'queue'
--
-- If no child has ended since then and every independent child is created, no work is left: the sweep is no longer listed
-- as having work.
-- include time
-- include state
-- include create
-- include admit

local root, id = KEYS[1], ARGV[1]
local s = root .. ':sweep:' .. id
local record = redis.call('HMGET', s, 'state', 'project', 'expanded', 'free', 'ends')
if record[1] ~= 'running' then return { 'moved' } end
local now, answer = nowMs(), { 'ok' }
for at = 6, #ARGV do
  local child = cjson.decode(ARGV[at])
  local index = child.index
  local after = redis.call('HGET', s .. ':after', index)
  local open = after and redis.call('HEXISTS', s .. ':settled', index) == 0
  local state = open and (redis.call('HGET', s .. ':runs', after) or '0') == child.afterRun
    and (redis.call('HGET', root .. ':x:' .. child.afterExperiment, 'state')
      or (tonumber(after) < tonumber(record[3]) and 'deleted'))
  if state == 'succeeded' then
    if ARGV[2] ~= '1' or overQuota(root, record[2], argumentBytes(), ARGV[3]) then return { 'full' } end
    redis.call('HSET', s .. ':settled', index, 'made')
    redis.call('HINCRBY', s, 'held', -1)
    redis.call('HINCRBY', s, 'made', 1)
    createChild(root, child, { project = record[2], version = ARGV[4], now = now, sweep = id,
      reason = 'child ' .. index .. ' of ' .. id .. ', since child ' .. after .. ' has succeeded' })
    answer[#answer + 1] = child.id
  elseif state and state ~= 'queued' and not HELD[state] then
    redis.call('HSET', s .. ':settled', index, 'child ' .. after .. ', on which it depends, is ' .. state)
    redis.call('HINCRBY', s, 'held', -1)
    redis.call('HINCRBY', s, 'skipped', 1)
    closeChild(root, s, now)
  end
end
countToCome(root, s)
if ARGV[5] ~= '' and (record[5] or '0') == ARGV[5] and tonumber(record[3]) >= tonumber(record[4]) then
  redis.call('ZREM', root .. ':sweep-work', id)
end
if #answer > 1 then redis.call('PUBLISH', root .. ':wake', 'queue') end
return answer
