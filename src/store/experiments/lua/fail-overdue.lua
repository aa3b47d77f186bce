#!lua flags=allow-oom
-- Fails the experiments whose deadline passed before a dispatcher acquired an attempt of them. A leased attempt is ended
-- by its lease holder.
--
-- KEYS[1]   root of all keys
-- ARGV      1 MAX experiments to check
-- Returns   number of checked experiments, then the experiments that failed
-- Events    state: queued | launching -> failed; PUBLISH wake 'queue'
-- include time
-- include state
-- include allocation

local root = KEYS[1]
local now = nowMs()
local due = redis.call('ZRANGEBYSCORE', root .. ':deadlines', '-inf', int(now), 'LIMIT', 0, ARGV[1])
local answer = { #due }
for _, id in ipairs(due) do
  local record = redis.call('HMGET', root .. ':x:' .. id, 'state', 'attempt')
  if record[1] and isUnacquired(root, id, record[1]) then
    failPastDeadline(root, id, { state = record[1], attempt = record[2] }, now)
    answer[#answer + 1] = id
  elseif record[1] and HELD[record[1]] then
    -- Checked again later: its attempt may end without it.
    redis.call('ZADD', root .. ':deadlines', int(now + 5000), id)
  else
    redis.call('ZREM', root .. ':deadlines', id)
  end
end
return answer
