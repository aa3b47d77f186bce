#!lua
-- Settles children of a sweep that wait for another child: one whose child has succeeded becomes an experiment, one
-- whose child has ended otherwise never runs. The others are passed over.
--
-- KEYS[1]   root of all keys
-- ARGV      1 sweep, 2 '1' where new work is accepted, 3 version of a record's layout, 4 the sweep's `ends` as they were
--           before the states were read, '' where more is to come, then for each child: index, run and experiment of
--           the child that it waits for, and its arguments (see redis/lua/create.lua)
-- Returns   {'ok', ids of the new experiments…}
-- Errors    {'moved'}: the sweep is cancelled or gone; {'full'}
-- Events    state: null -> queued of each; PUBLISH wake 'queue'
--
-- Without another end since then, and with every free child made, nothing is left to do: the sweep stands no longer
-- among those with work.
-- include time
-- include state
-- include create

local root, id = KEYS[1], ARGV[1]
local s = root .. ':sweep:' .. id
local record = redis.call('HMGET', s, 'state', 'project', 'expanded', 'free', 'ends')
if record[1] ~= 'running' then return { 'moved' } end
local now, answer = nowMs(), { 'ok' }
for at = 5, #ARGV, CHILD_SIZE + 3 do
  local index, run = ARGV[at], ARGV[at + 1]
  local after = redis.call('HGET', s .. ':after', index)
  local open = after and redis.call('HEXISTS', s .. ':settled', index) == 0
  local state = open and (redis.call('HGET', s .. ':runs', after) or '0') == run
    and (redis.call('HGET', root .. ':x:' .. ARGV[at + 2], 'state')
      or (tonumber(after) < tonumber(record[3]) and 'deleted'))
  if state == 'succeeded' then
    if ARGV[2] ~= '1' then return { 'full' } end
    redis.call('HSET', s .. ':settled', index, 'made')
    redis.call('HINCRBY', s, 'held', -1)
    redis.call('HINCRBY', s, 'made', 1)
    createWaiting(root, childAt(at + 3, { project = record[2], version = ARGV[3], now = now, sweep = id,
      index = index, reason = 'child ' .. index .. ' of ' .. id .. ', since child ' .. after .. ' has succeeded' }))
    answer[#answer + 1] = ARGV[at + 3]
  elseif state and state ~= 'queued' and not HELD[state] then
    redis.call('HSET', s .. ':settled', index, 'child ' .. after .. ', which it waits for, is ' .. state)
    redis.call('HINCRBY', s, 'held', -1)
    redis.call('HINCRBY', s, 'skipped', 1)
    closeChild(root, s, now)
  end
end
countToCome(root, s)
if ARGV[4] ~= '' and (record[5] or '0') == ARGV[4] and tonumber(record[3]) >= tonumber(record[4]) then
  redis.call('ZREM', root .. ':sweep-work', id)
end
if #answer > 1 then redis.call('PUBLISH', root .. ':wake', 'queue') end
return answer
