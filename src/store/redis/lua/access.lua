-- Changes the version of keys and projects, so that every process reads them again. The version is the time in
-- microseconds: it also differs after the server was restored from an older copy.
local function accessChanged(root)
  local time = redis.call('TIME')
  redis.call('SET', root .. ':access-version', time[1] .. '.' .. time[2])
end
