#!lua flags=allow-oom
-- Removes the record of an experiment by retention, unless a rule retains one of its batches (see redis/lua/remove.lua).
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment
-- Returns   'deleted' | 'not-ended': or a backup runs | 'not-found' | 'kept': nothing was changed
-- Events    PUBLISH to followers, which end
-- include time
-- include remove

if redis.call('EXISTS', KEYS[1] .. ':backup') == 1 then return 'not-ended' end
if redis.call('EXISTS', KEYS[1] .. ':x:' .. ARGV[1] .. ':kept') == 1 then return 'kept' end
return removeExperiment(KEYS[1], ARGV[1])
