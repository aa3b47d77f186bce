#!lua flags=allow-oom
-- Adds experiments to the list of streams to archive, or changes the times of the list of event logs that clusters are to
-- delete. A full store accepts it, because both lists lead to free memory.
--
-- KEYS[1]   root of all keys
-- ARGV      1 'archiving' or 'forgetting', 2 'NX': only new experiments, or 'XX': only listed ones,
--           then time (ms) and experiment in turn
-- Returns   number of added experiments
-- Events    none

return redis.call('ZADD', KEYS[1] .. ':' .. ARGV[1], ARGV[2], unpack(ARGV, 3))
