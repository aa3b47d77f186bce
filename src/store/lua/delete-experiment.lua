#!lua flags=allow-oom
-- Removes an experiment that has ended, with everything that was recorded of it (see include/remove.lua).
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment
-- Returns   'deleted' | 'not-ended': nothing was changed | 'not-found'
-- Events    PUBLISH to followers, who then find nothing
-- include remove

return removeExperiment(KEYS[1], ARGV[1])
