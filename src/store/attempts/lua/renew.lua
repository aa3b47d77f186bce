#!lua flags=allow-oom
-- Renews leases. An expired lease that no dispatcher has taken over is renewed too.
--
-- KEYS[1]   root of all keys
-- ARGV      1 leaseMs, then for each lease: experiment, attempt, token
-- Returns   for each lease: 'held' or 'lost', the state ('' if there is no such experiment), why the attempt must end
--           now, in words ('' if it may continue), and if it is preempted: ms until it is stopped and why, else '' twice
-- Events    preemption, if one is withdrawn
-- include time
-- include state
-- include limits
-- include preemption

local root = KEYS[1]
local now = nowMs()
local expiry = int(now + ARGV[1])
local answer = {}
for i = 2, #ARGV, 3 do
  local x = root .. ':x:' .. ARGV[i]
  local held = holds(x, ARGV[i + 1], ARGV[i + 2])
  if held then redis.call('ZADD', root .. ':leases', expiry, ARGV[i]) end
  answer[#answer + 1] = held and 'held' or 'lost'
  answer[#answer + 1] = redis.call('HGET', x, 'state') or ''
  answer[#answer + 1] = held and limitReached(x, ARGV[i + 1], now) or ''
  local leaving = held and preemptionOf(root, ARGV[i], now)
  answer[#answer + 1] = leaving and int(leaving['until'] - now) or ''
  answer[#answer + 1] = leaving and leaving.reason or ''
end
return answer
