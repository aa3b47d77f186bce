#!lua flags=allow-oom
-- Ends a claim on an answer: with the answer, which is stored, or without, so that the key is free again. The answers of
-- one caller are limited in number and bytes: new ones replace the caller's oldest.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name of caller and key, 2 token of the claim, 3 answer (JSON) or '', 4 its lifetime (ms), then for an
--           answer: 5 caller, 6 MAX answers of a caller, 7 MAX bytes of these
-- Returns   1; 0: the claim is lost, and nothing was changed
-- Events    none

local root = KEYS[1]
local key = root .. ':answer:' .. ARGV[1]
if redis.call('HGET', key, 'token') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then return redis.call('DEL', key) end
redis.call('HDEL', key, 'token')
redis.call('HSET', key, 'answer', ARGV[3])
redis.call('PEXPIRE', key, ARGV[4])

-- The caller's answers, oldest first, as `name bytes`, and the sum of their bytes.
local ring = root .. ':answers:' .. ARGV[5]
local sum = ring .. ':bytes'
local count = redis.call('RPUSH', ring, ARGV[1] .. ' ' .. #ARGV[3])
local bytes = redis.call('INCRBY', sum, #ARGV[3])
while count > 1 and (count > tonumber(ARGV[6]) or bytes > tonumber(ARGV[7])) do
  local name, size = string.match(redis.call('LPOP', ring), '^(%S+) (%d+)$')
  if name ~= ARGV[1] then redis.call('DEL', root .. ':answer:' .. name) end
  count, bytes = count - 1, redis.call('DECRBY', sum, size)
end
redis.call('PEXPIRE', ring, ARGV[4])
redis.call('PEXPIRE', sum, ARGV[4])
return 1
