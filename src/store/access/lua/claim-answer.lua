#!lua
-- Claims the right to answer a request that carries an Idempotency-Key, unless it was claimed or answered before.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name of caller and key, 2 digest of the request, 3 token of the claim, 4 lifetime of the claim (ms),
--           5 '1' if the store accepts new work
-- Returns   {'claimed'}; {'answered', answer (JSON)}; {'running'}: another process has the claim and has not answered yet
-- Errors    {'conflict'}: the key was used with another request; {'full'}: the store accepts no more answers
-- Events    none
-- include idempotency

local outcome, answer = earlierRequest(KEYS[1], ARGV[1], ARGV[2])
if outcome then return { outcome, answer } end
if ARGV[5] ~= '1' then return { 'full' } end
local key = KEYS[1] .. ':answer:' .. ARGV[1]
redis.call('HSET', key, 'digest', ARGV[2], 'token', ARGV[3])
redis.call('PEXPIRE', key, ARGV[4])
return { 'claimed' }
