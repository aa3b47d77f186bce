#!lua flags=allow-oom
-- Gives an experiment that waits another priority: record and place in the line.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 priority, 3 the version that it must have, or ''
-- Returns   'changed' | 'not-found'; 'not-waiting' | 'changed-since': nothing was changed
-- Events    PUBLISH wake 'line'
-- include line
-- include version

local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
local record = redis.call('HMGET', x, 'state', 'seq', 'project')
if not record[1] then return 'not-found' end
if not hasVersion(root, 'experiment', id, ARGV[3]) then return 'changed-since' end
if record[1] ~= 'queued' then return 'not-waiting' end
local score = placeInLine(record[2], ARGV[2])
redis.call('HSET', x, 'priority', ARGV[2])
raiseRevision(x)
redis.call('ZADD', root .. ':line', score, id)
standInLine(root, id, record[3], score)
redis.call('PUBLISH', root .. ':wake', 'line')
return 'changed'
