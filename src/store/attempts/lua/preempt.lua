#!lua flags=allow-oom
-- Asks running experiments to leave their nodes for a queued one: all of them or none. Their dispatchers stop them at the next
-- checkpoint, or at the end of their time.
--
-- KEYS[1]   root of all keys
-- ARGV      1 the queued experiment, 2 cluster, 3 version of its allocations as read, 4 version of the preemptions as read,
--           5 ms until the stop, 6 MAX times that an experiment is preempted, then experiment and attempt in turn
-- Returns   number of preempted experiments; 0: the state has changed since the caller read it, and nothing was changed
-- Events    preemption, also in the feeds; PUBLISH wake 'cancel'
-- include time
-- include state
-- include preemption

local root, by, now = KEYS[1], ARGV[1], nowMs()
local versions = redis.call('HMGET', root .. ':versions', ARGV[2], 'preempt:')
if (versions[1] or '0') ~= ARGV[3] or (versions[2] or '0') ~= ARGV[4] then return 0 end
local other = redis.call('HMGET', root .. ':x:' .. by, 'state', 'project')
if other[1] ~= 'queued' then return 0 end
for i = 7, #ARGV, 2 do
  local record = redis.call('HMGET', root .. ':x:' .. ARGV[i], 'state', 'attempt', 'preempted')
  if record[1] ~= 'running' or record[2] ~= ARGV[i + 1] or tonumber(record[3] or '0') >= tonumber(ARGV[6])
    or redis.call('HEXISTS', root .. ':leaving', ARGV[i]) == 1 then
    return 0
  end
end
local untilMs = int(now + ARGV[5])
for i = 7, #ARGV, 2 do
  local x = root .. ':x:' .. ARGV[i]
  local own = redis.call('HGET', x, 'project') == other[2]
  local reason = 'it makes room for ' .. (own and 'the urgent experiment ' .. by or 'an urgent experiment of another project')
  redis.call('HSET', root .. ':leaving', ARGV[i],
    '{"by":' .. cjson.encode(by) .. ',"until":' .. untilMs .. ',"reason":' .. cjson.encode(reason) .. '}')
  redis.call('HINCRBY', x, 'preempted', 1)
  recordPreemption(root, ARGV[i], { untilMs = untilMs, reason = reason, now = now })
end
redis.call('HINCRBY', root .. ':versions', 'preempt:', 1)
redis.call('PUBLISH', root .. ':wake', 'cancel')
return (#ARGV - 6) / 2
