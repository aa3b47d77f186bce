#!lua flags=allow-oom
-- Ends the experiments that wait although their deadline has passed. One that is held is ended by who holds it.
--
-- KEYS[1]   root of all keys
-- ARGV      1 at most so many are looked at
-- Returns   {how many were looked at, how many were ended}
-- Events    state: queued -> failed; PUBLISH wake 'line'
-- include time
-- include state
-- include limits

local root = KEYS[1]
local now = nowMs()
local due = redis.call('ZRANGEBYSCORE', root .. ':deadlines', '-inf', int(now), 'LIMIT', 0, ARGV[1])
local ended = 0
for _, id in ipairs(due) do
  local record = redis.call('HMGET', root .. ':x:' .. id, 'state', 'attempt')
  if record[1] == 'queued' then
    failWaiting(root, id, record[2], now)
    ended = ended + 1
  elseif record[1] and HELD[record[1]] then
    -- Looked at again later: its attempt may end without it.
    redis.call('ZADD', root .. ':deadlines', int(now + 5000), id)
  else
    redis.call('ZREM', root .. ':deadlines', id)
  end
end
return { #due, ended }
