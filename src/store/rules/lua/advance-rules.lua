#!lua flags=allow-oom
-- Advances an experiment's rules along its stream: their memory, the fired rules, and the stop that one of them asks for,
-- in one step. A process that evaluated the same or earlier entries changes nothing. A rule is recorded once in an
-- attempt.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 cursor as read ('': none), 3 the new cursor, 4 memory (JSON),
--           5 time of the next evaluation (ms; 0: none), 6 rule that asks for a stop or '', 7 its reason,
--           then for each rule that fired: name, attempt, event (JSON) and the batch to retain or ''
-- Returns   {'ok', '1' stopped or '0', for each rule that was recorded now: its name}
-- Errors    {'moved'}: another process has advanced them; {'gone'}: no such experiment
-- Events    rule, also in the feeds; state of a stop: queued | launching -> cancelled (PUBLISH wake 'queue'), launching |
--           running -> cancelling (wake 'cancel'). A final experiment is only marked
-- include time
-- include state
-- include allocation

local MAX_SHOWN = 50
local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
local signals, waits, rules = root .. ':signals', root .. ':signals:waits', x .. ':rules'
local record = redis.call('HMGET', x, 'state', 'attempt', 'project', 'name', 'sweep')
local from, attempt = record[1], record[2]
if not from then
  redis.call('ZREM', signals, id)
  redis.call('ZREM', waits, id)
  return { 'gone' }
end
if (redis.call('HGET', rules, 'cursor') or '') ~= ARGV[2] then return { 'moved' } end

local now = nowMs()
local unread = redis.call('XRANGE', x .. ':events', ARGV[3] == '' and '-' or ('(' .. ARGV[3]), '+', 'COUNT', 1)
redis.call('HSET', rules, 'cursor', ARGV[3], 'memory', ARGV[4])
if unread[1] then redis.call('ZADD', signals, int(now), id) else redis.call('ZREM', signals, id) end
if ARGV[5] == '0' then redis.call('ZREM', waits, id) else redis.call('ZADD', waits, ARGV[5], id) end

local answer = { 'ok', '0' }
for at = 8, #ARGV, 4 do
  if redis.call('HSETNX', rules, 'fired:' .. ARGV[at] .. ':' .. ARGV[at + 1], int(now)) == 1 then
    local bytes = addEntry(x, attempt .. '-*', 't', 'rule', 'a', int(now), 'd', ARGV[at + 2])
    countStream(root, record[3], x, bytes)
    publishToFeeds(root, { project = record[3], experiment = id, name = record[4], sweep = record[5], at = now,
      event = ARGV[at + 2] })
    -- The record shows the first fired rules; the stream has all.
    if redis.call('HINCRBY', x, 'marks', 1) <= MAX_SHOWN then
      local shown = redis.call('HGET', x, 'fired')
      redis.call('HSET', x, 'fired', (shown and (shown .. '\n') or '') .. ARGV[at + 2])
    end
    if ARGV[at + 3] ~= '' then redis.call('SADD', x .. ':kept', ARGV[at + 3]) end
    answer[#answer + 1] = ARGV[at]
  end
end
-- Followers of an ended experiment wait until its rules have read all of its stream.
local over = not unread[1] and from ~= 'queued' and not HELD[from]
if #answer > 2 or over then redis.call('PUBLISH', x .. ':changed', 'rule') end

local stops = ARGV[6] ~= '' and (from == 'queued' or from == 'launching' or from == 'running')
if stops then
  answer[2] = '1'
  redis.call('HSET', x, 'stoppedBy', ARGV[6], 'stopReason', ARGV[7], 'stoppedAt', int(now))
  local sweep = ARGV[6] == 'early-stopping' and redis.call('HGET', x, 'sweep')
  if sweep then redis.call('HINCRBY', root .. ':sweep:' .. sweep, 'stoppedEarly', 1) end
  local change = { from = from, to = 'cancelling', attempt = attempt, reason = ARGV[7], now = now }
  if isUnacquired(root, id, from) then
    change.to = 'cancelled'
    endUnacquired(root, id, change)
  else
    moveState(root, id, change)
    redis.call('PUBLISH', root .. ':wake', 'cancel')
  end
end
return answer
