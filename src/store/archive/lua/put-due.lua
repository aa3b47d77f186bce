#!lua flags=allow-oom
-- Puts experiments among those that are to be archived, or moves those that clusters are to forget to another time. A full
-- store takes it: what gives memory back comes behind it.
--
-- KEYS[1]   root of all keys
-- ARGV      1 'archiving' or 'forgetting', 2 'NX': those that are not there yet, or 'XX': those that are,
--           then time (ms) and experiment in turn
-- Returns   how many were added
-- Events    none

return redis.call('ZADD', KEYS[1] .. ':' .. ARGV[1], ARGV[2], unpack(ARGV, 3))
