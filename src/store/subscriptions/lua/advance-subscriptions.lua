#!lua
-- Advances the subscriptions of a project along its feed: their new messages enter the outboxes, and the waits of queued
-- experiments change, in one step with the cursor. A process that read the same or earlier entries changes nothing.
--
-- KEYS[1]   root of all keys
-- ARGV[1]   table (JSON): project; cursor (as read) and last (the new cursor), both absent if no entry was read; missed (deleted
--           entries that no process has read); messages (for each: subscription, message (JSON), everyMs, wait: the member
--           of {root}:waits that is due, may be absent); waits (for each: member, at (ms), absent: removed)
-- Returns   'ok' | 'moved': another process has advanced them
-- include time
-- include outbox

local root, advance = KEYS[1], cjson.decode(ARGV[1])
local subscriptions = root .. ':subscriptions:' .. advance.project
if advance.cursor then
  if redis.call('HGET', root .. ':subscribed', advance.project) ~= advance.cursor then return 'moved' end
  redis.call('HSET', root .. ':subscribed', advance.project, advance.last)
end
if advance.missed > 0 then
  for _, id in ipairs(redis.call('HKEYS', subscriptions)) do
    redis.call('HINCRBY', root .. ':subscription:' .. id, 'dropped', int(advance.missed))
  end
end
local changed = {}
for _, one in ipairs(advance.messages) do
  local isDue = not one.wait or redis.call('ZREM', root .. ':waits', one.wait) == 1
  if isDue and one.message and redis.call('HEXISTS', subscriptions, one.subscription) == 1 then
    pushMessage(root, advance.project, one.subscription, one.message, one.everyMs)
    changed[one.subscription] = true
  end
end
for id in pairs(changed) do countOutbox(root, advance.project, id) end
for _, wait in ipairs(advance.waits) do
  if wait.at then
    redis.call('ZADD', root .. ':waits', int(wait.at), wait.member)
  else
    redis.call('ZREM', root .. ':waits', wait.member)
  end
end
return 'ok'
