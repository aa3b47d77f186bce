#!lua
-- Writes fields of an experiment that only users change.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 the revision that it must have, or '', then fields with their values ('' removes one)
-- Returns   'changed' | 'not-found'; 'changed-since': nothing was changed
-- include time
-- include revision
-- include bytes

local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
local project = redis.call('HGET', x, 'project')
if not project then return 'not-found' end
if not hasRevision(root, 'experiment', id, ARGV[2]) then return 'changed-since' end
local change = 0
for at = 3, #ARGV, 2 do
  change = change + #ARGV[at + 1] - #(redis.call('HGET', x, ARGV[at]) or '')
  if ARGV[at + 1] == '' then redis.call('HDEL', x, ARGV[at]) else redis.call('HSET', x, ARGV[at], ARGV[at + 1]) end
end
countBytes(root, project, x, change)
raiseRevision(root, 'experiment', id)
return 'changed'
