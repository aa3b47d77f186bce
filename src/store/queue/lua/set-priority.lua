#!lua flags=allow-oom
-- Gives a queued experiment another priority within its class: record and position in the queue.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 priority, 3 the revision that it must have, or ''
-- Returns   'changed' | 'not-found'; 'not-queued' | 'changed-since': nothing was changed
-- Events    PUBLISH wake 'queue'
-- include queue
-- include revision

local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
local record = redis.call('HMGET', x, 'state', 'seq', 'project', 'priority')
if not record[1] then return 'not-found' end
if not hasRevision(root, 'experiment', id, ARGV[3]) then return 'changed-since' end
if record[1] ~= 'queued' then return 'not-queued' end
-- The record has its class and priority in one number, see src/core/priority-class.ts.
local rank = string.format('%.0f', ARGV[2] + 300 * math.floor((record[4] + 150) / 300))
redis.call('HSET', x, 'priority', rank)
raiseRevision(root, 'experiment', id)
enqueue(root, id, record[3], queueScore(record[2], rank))
redis.call('PUBLISH', root .. ':wake', 'queue')
return 'changed'
