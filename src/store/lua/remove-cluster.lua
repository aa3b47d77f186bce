#!lua flags=allow-oom
-- Removes a cluster. The version of its reservations outlives it and rises, so that no claim that was decided before
-- the removal succeeds after it.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name
-- Returns   1 where there was such a cluster, else 0

redis.call('HINCRBY', KEYS[1] .. ':versions', ARGV[1], 1)
return redis.call('HDEL', KEYS[1] .. ':clusters', ARGV[1])
