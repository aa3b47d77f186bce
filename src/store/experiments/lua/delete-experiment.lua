#!lua flags=allow-oom
-- Removes an experiment that has ended with all its data (see redis/lua/remove.lua).
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 the revision that it must have, or ''
-- Returns   'deleted' | 'not-found'; 'not-ended' | 'changed-since': nothing was changed
-- Events    PUBLISH to followers, which end
-- include time
-- include remove
-- include revision

local root, id = KEYS[1], ARGV[1]
if redis.call('EXISTS', root .. ':x:' .. id) == 0 then return 'not-found' end
if not hasRevision(root, 'experiment', id, ARGV[2]) then return 'changed-since' end
return removeExperiment(root, id)
