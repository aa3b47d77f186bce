#!lua flags=allow-oom
-- Records that the holder of an attempt has survived its launch or takeover (redis/lua/suspects.lua). May be repeated.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 attempt, 3 token
-- Returns   1, or 0 if the lease is lost
-- Events    PUBLISH wake 'lease' and 'queue' if it was the dispatcher's suspect
-- include time
-- include state
-- include suspects

if not holds(KEYS[1] .. ':x:' .. ARGV[1], ARGV[2], ARGV[3]) then return 0 end
settle(KEYS[1], ARGV[1])
return 1
