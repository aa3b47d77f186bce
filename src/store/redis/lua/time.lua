-- Milliseconds since 1970 by the store's clock: the only clock that judges a lease. It is the server's clock, minus what that
-- clock has leapt (see clock/judge.ts). {root}:clock has the correction and the time at which a process last compared the
-- server's clock with its own steady one. Without such a comparison, time does not pass for longer than UNSEEN_MS: less
-- than a lease lasts, so that a leap ends no lease and dates no work before a process has noticed it.
local UNSEEN_MS = 8000

local function serverMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function nowMs()
  local clock = redis.call('HMGET', KEYS[1] .. ':clock', 'seen', 'correction')
  if not clock[1] then return serverMs() end
  local seen = tonumber(clock[1])
  return math.min(math.max(serverMs() + clock[2], seen), seen + UNSEEN_MS)
end

-- A whole number in decimal. Lua's own tostring keeps 14 digits.
local function int(number)
  return string.format('%.0f', number)
end
