-- Tells every process that its copy of keys and projects is old: the time in microseconds, which is another for every
-- change, also on a server that was restored from an older copy.
local function accessChanged(root)
  local time = redis.call('TIME')
  redis.call('SET', root .. ':access-version', time[1] .. '.' .. time[2])
end
