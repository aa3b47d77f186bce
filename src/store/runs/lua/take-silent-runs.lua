#!lua flags=allow-oom
-- Takes external runs whose client was silent for too long, or that are being cancelled, under new tokens. A run that its
-- taker does not end is taken again a minute later.
--
-- KEYS[1]   root of all keys
-- ARGV      a token for each run that it may take
-- Returns   for each: experiment, attempt, token, its recorded `ended` event (JSON) or ''
-- include time

local root, now, answer = KEYS[1], nowMs(), {}
local AGAIN_MS = 60000
for i, id in ipairs(redis.call('ZRANGEBYSCORE', root .. ':runs', '-inf', int(now), 'LIMIT', 0, #ARGV)) do
  local x = root .. ':x:' .. id
  local attempt = redis.call('HGET', x, 'attempt')
  redis.call('HSET', x, 'token', ARGV[i])
  redis.call('ZADD', root .. ':runs', int(now + AGAIN_MS), id)
  local ended = redis.call('HGET', x .. ':attempts', attempt .. ':ended') or ''
  for _, value in ipairs({ id, attempt, ARGV[i], ended }) do answer[#answer + 1] = value end
end
return answer
