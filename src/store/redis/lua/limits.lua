-- What ends an experiment from outside: its timeout, for each attempt from its confirmed launch on, and its deadline.
-- Judged by the server's clock alone, whenever a lease is renewed, an experiment allocated or the queue checked for passed deadlines.
-- Needs time and state.

-- Milliseconds since 1970 of an instant as JavaScript's Date writes it in UTC; nil for anything else.
local function instantMs(text)
  local year, month, day, hour, minute, second, milli =
    string.match(text, '^(%d%d%d%d)-(%d%d)-(%d%d)T(%d%d):(%d%d):(%d%d)%.(%d%d%d)Z$')
  if not year then return nil end
  year, month = tonumber(year), tonumber(month)
  if month <= 2 then year = year - 1 end
  -- Days of the proleptic Gregorian calendar, in years that begin in March.
  local era = math.floor(year / 400)
  local yearOfEra = year - era * 400
  local dayOfYear = math.floor((153 * ((month + 9) % 12) + 2) / 5) + tonumber(day) - 1
  local dayOfEra = yearOfEra * 365 + math.floor(yearOfEra / 4) - math.floor(yearOfEra / 100) + dayOfYear
  local days = era * 146097 + dayOfEra - 719468
  return ((days * 24 + tonumber(hour)) * 60 + tonumber(minute)) * 60000 + tonumber(second) * 1000 + tonumber(milli)
end

-- Notes the limits of a new experiment from its resolved spec (JSON). Most have none, and are not decoded.
local function noteLimits(root, id, resolved)
  if not string.find(resolved, '"deadline":"', 1, true) and not string.find(resolved, '"timeoutSeconds":%d') then
    return
  end
  local x, spec = root .. ':x:' .. id, cjson.decode(resolved)
  if type(spec.timeoutSeconds) == 'number' then
    redis.call('HSET', x, 'timeoutMs', int(spec.timeoutSeconds * 1000))
  end
  local deadline = type(spec.deadline) == 'string' and instantMs(spec.deadline)
  if deadline then
    redis.call('HSET', x, 'deadlineAt', int(deadline))
    redis.call('ZADD', root .. ':deadlines', int(deadline), id)
  end
end

-- Why a held attempt must end now, in words; false where it may go on. Once said, it stays so for this attempt.
local function limitReached(x, attempt, now)
  local limits = redis.call('HMGET', x, 'limitReached', 'deadlineAt', 'timeoutMs')
  if limits[1] then return limits[1] end
  local reason = false
  if limits[2] and now >= tonumber(limits[2]) then
    reason = 'its deadline has passed'
  elseif limits[3] then
    local since = redis.call('HGET', x .. ':attempts', attempt .. ':confirmedAt')
    if since and now >= since + limits[3] then
      reason = 'the attempt ran longer than its timeout of ' .. (limits[3] / 1000) .. ' s'
    end
  end
  if reason then redis.call('HSET', x, 'limitReached', reason) end
  return reason
end
