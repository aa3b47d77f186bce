-- Rates over any number of processes. {root}:rate:<of>: time (ms) until which what has begun has used the rate up. Needs time.
-- A rate: of (who or what has it), everyMs, burst (how many may begin at once).

-- When the next one may begin (ms): now, or later.
local function allowedAt(root, rate, now)
  local used = tonumber(redis.call('GET', root .. ':rate:' .. rate.of) or '0')
  -- A clock that was ahead must not hold anything up for longer than the burst lasts.
  used = math.min(used, now + rate.burst * rate.everyMs)
  return math.max(now, used - (rate.burst - 1) * rate.everyMs)
end

-- Counts one that begins now.
local function countOne(root, rate, now)
  local key = root .. ':rate:' .. rate.of
  local used = math.max(tonumber(redis.call('GET', key) or '0'), now)
  used = math.min(used, now + rate.burst * rate.everyMs) + rate.everyMs
  redis.call('SET', key, int(used), 'PX', int(used - now))
end
