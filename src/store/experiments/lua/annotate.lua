#!lua
-- Writes fields of an experiment that only users change, and its priority, in one step.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 the revision that it must have, or '', 3 priority, or '' if it stays, then fields with their values
--           ('' removes one)
-- Returns   'changed' | 'not-found'; 'not-queued' (it has no priority any more) | 'changed-since': nothing was changed
-- Events    with a priority: PUBLISH wake 'queue'
-- include time
-- include revision
-- include queue
-- include priority
-- include bytes

local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
local project = redis.call('HGET', x, 'project')
if not project then return 'not-found' end
if not hasRevision(root, 'experiment', id, ARGV[2]) then return 'changed-since' end
if ARGV[3] ~= '' and not setPriority(root, id, ARGV[3]) then return 'not-queued' end
local change = 0
for at = 4, #ARGV, 2 do
  change = change + #ARGV[at + 1] - #(redis.call('HGET', x, ARGV[at]) or '')
  if ARGV[at + 1] == '' then redis.call('HDEL', x, ARGV[at]) else redis.call('HSET', x, ARGV[at], ARGV[at + 1]) end
end
countBytes(root, project, x, change)
raiseRevision(root, 'experiment', id)
return 'changed'
