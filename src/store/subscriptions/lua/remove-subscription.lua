#!lua flags=allow-oom
-- Removes a subscription with its pending messages and dead letters.
--
-- KEYS[1]   root of all keys
-- ARGV      1 project, 2 id
-- Returns   1, or 0 if the project has no such subscription
-- include time
-- include subscription

return removeSubscription(KEYS[1], ARGV[1], ARGV[2])
