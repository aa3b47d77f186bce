#!lua
-- Claims the right to answer a request that carries an Idempotency-Key, unless it was claimed or answered before.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name of caller and key, 2 digest of the request, 3 token of the claim, 4 how long it holds (ms),
--           5 '1' where the store takes new work
-- Returns   {'claimed'}; {'answered', answer (JSON)}; {'running'}: claimed by another, without an answer yet
-- Errors    {'conflict'}: the key was used with another request; {'full'}: nothing more is kept
-- Events    none
-- include idempotency

local outcome, answer = earlierRequest(KEYS[1], ARGV[1], ARGV[2])
if outcome then return { outcome, answer } end
if ARGV[5] ~= '1' then return { 'full' } end
local key = KEYS[1] .. ':answer:' .. ARGV[1]
redis.call('HSET', key, 'digest', ARGV[2], 'token', ARGV[3])
redis.call('PEXPIRE', key, ARGV[4])
return { 'claimed' }
