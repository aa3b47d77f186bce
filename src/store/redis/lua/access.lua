-- Changes the version of keys, projects and sign-outs, so that every process reads them again. Returns the version, which
-- always grows: a change after another one has the greater version even in the same microsecond, after the clock was set
-- back, and after the server was restored from an older copy, where a mere count would repeat itself.
local function accessChanged(root)
  local key = root .. ':access-version'
  local time = redis.call('TIME')
  local version = math.max(time[1] * 1000000 + time[2], tonumber(redis.call('GET', key) or 0) + 1)
  redis.call('SET', key, string.format('%.0f', version))
  return version
end
