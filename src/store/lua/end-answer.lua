#!lua flags=allow-oom
-- Ends a claim on an answer: with the answer, which is then kept, or without, so that the key is free again.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name of caller and key, 2 token of the claim, 3 answer (JSON) or '', 4 how long it is kept (ms)
-- Returns   1; 0: the claim is lost, and nothing was changed
-- Events    none

local key = KEYS[1] .. ':answer:' .. ARGV[1]
if redis.call('HGET', key, 'token') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then return redis.call('DEL', key) end
redis.call('HDEL', key, 'token')
redis.call('HSET', key, 'answer', ARGV[3])
redis.call('PEXPIRE', key, ARGV[4])
return 1
