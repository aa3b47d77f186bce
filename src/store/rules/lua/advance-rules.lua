#!lua flags=allow-oom
-- Advances an experiment's rules along its stream: their memory, the fired rules, and the stop that one of them asks for,
-- in one step. A process that evaluated the same or earlier entries changes nothing. A rule is recorded once in an
-- attempt.
--
-- KEYS[1]   root of all keys
-- ARGV[1]   table (JSON): experiment, cursor (as read; '': none), last (the new cursor), memory (JSON), due (time of the next
--           evaluation, ms; absent: none), stop ({ rule, reason }; absent: no rule asks for it), fired (for each rule that
--           fired: rule, attempt (string), event (JSON), kept (the batch to retain; may be absent))
-- Returns   {'ok', '1' stopped or '0', for each rule that was recorded now: its name}
-- Errors    {'moved'}: another process has advanced them; {'gone'}: no such experiment
-- Events    rule, also in the feeds; state of a stop: queued | launching -> cancelled (PUBLISH wake 'queue'), launching |
--           running -> cancelling (wake 'cancel'). A final experiment is only marked
-- include time
-- include state
-- include allocation

local MAX_SHOWN = 50
local advance = cjson.decode(ARGV[1])
local root, id, stop = KEYS[1], advance.experiment, advance.stop
local x = root .. ':x:' .. id
local signals, waits, rules = root .. ':signals', root .. ':signals:waits', x .. ':rules'
local record = redis.call('HMGET', x, 'state', 'attempt', 'project', 'name', 'sweep')
local from, attempt = record[1], record[2]
if not from then
  redis.call('ZREM', signals, id)
  redis.call('ZREM', waits, id)
  return { 'gone' }
end
if (redis.call('HGET', rules, 'cursor') or '') ~= advance.cursor then return { 'moved' } end

local now = nowMs()
local unread = redis.call('XRANGE', x .. ':events', advance.last == '' and '-' or ('(' .. advance.last), '+', 'COUNT', 1)
redis.call('HSET', rules, 'cursor', advance.last, 'memory', advance.memory)
if unread[1] then redis.call('ZADD', signals, int(now), id) else redis.call('ZREM', signals, id) end
if advance.due then redis.call('ZADD', waits, advance.due, id) else redis.call('ZREM', waits, id) end

local answer = { 'ok', '0' }
for _, one in ipairs(advance.fired) do
  if redis.call('HSETNX', rules, 'fired:' .. one.rule .. ':' .. one.attempt, int(now)) == 1 then
    local bytes = addEntry(x, attempt .. '-*', 't', 'rule', 'a', int(now), 'd', one.event)
    countStream(root, record[3], x, bytes)
    publishToFeeds(root, { project = record[3], experiment = id, name = record[4], sweep = record[5], at = now,
      event = one.event })
    -- The record shows the first fired rules; the stream has all.
    if redis.call('HINCRBY', x, 'marks', 1) <= MAX_SHOWN then
      local shown = redis.call('HGET', x, 'fired')
      redis.call('HSET', x, 'fired', (shown and (shown .. '\n') or '') .. one.event)
    end
    if one.kept then redis.call('SADD', x .. ':kept', one.kept) end
    answer[#answer + 1] = one.rule
  end
end
-- Followers of an ended experiment wait until its rules have read all of its stream.
local over = not unread[1] and from ~= 'queued' and not HELD[from]
if #answer > 2 or over then redis.call('PUBLISH', x .. ':changed', 'rule') end

local stops = stop and (from == 'queued' or from == 'launching' or from == 'running')
if stops then
  answer[2] = '1'
  redis.call('HSET', x, 'stoppedBy', stop.rule, 'stopReason', stop.reason, 'stoppedAt', int(now))
  local sweep = stop.rule == 'early-stopping' and redis.call('HGET', x, 'sweep')
  if sweep then redis.call('HINCRBY', root .. ':sweep:' .. sweep, 'stoppedEarly', 1) end
  local change = { from = from, to = 'cancelling', attempt = attempt, reason = stop.reason, now = now }
  if isUnacquired(root, id, from) then
    change.to = 'cancelled'
    endUnacquired(root, id, change)
  else
    moveState(root, id, change)
    redis.call('PUBLISH', root .. ':wake', 'cancel')
  end
end
return answer
