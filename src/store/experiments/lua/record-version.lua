#!lua flags=no-writes
-- The version of a record as it is now, to be named by a write that is decided on it.
--
-- KEYS[1]   root of all keys
-- ARGV      1 'experiment', 'project' or 'cluster', 2 its id or name
-- Returns   the version; also where there is no such record
-- include version

return versionOf(KEYS[1], ARGV[1], ARGV[2])
