#!lua flags=allow-oom
-- Gives a queued experiment another priority within its class.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 priority, 3 the revision that it must have, or ''
-- Returns   'changed' | 'not-found'; 'not-queued' | 'changed-since': nothing was changed
-- Events    PUBLISH wake 'queue'
-- include queue
-- include priority
-- include revision

local root, id = KEYS[1], ARGV[1]
if redis.call('EXISTS', root .. ':x:' .. id) == 0 then return 'not-found' end
if not hasRevision(root, 'experiment', id, ARGV[3]) then return 'changed-since' end
if not setPriority(root, id, ARGV[2]) then return 'not-queued' end
raiseRevision(root, 'experiment', id)
return 'changed'
