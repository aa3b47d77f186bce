-- Milliseconds since 1970 by the server's clock: the only clock that judges a lease.
local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- A whole number in decimal. Lua's own tostring keeps 14 digits.
local function int(number)
  return string.format('%.0f', number)
end
