#!lua flags=allow-oom
-- Notes that the client of an external run is not silent. A run that is being cancelled stays due.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 attempt, 3 token, 4 silenceMs
-- Returns   1, or 0 if the lease is not that of an open run
-- include time
-- include state

local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
if not holds(x, ARGV[2], ARGV[3]) or not redis.call('ZSCORE', root .. ':runs', id) then return 0 end
if redis.call('HGET', x, 'state') == 'running' then
  redis.call('ZADD', root .. ':runs', int(nowMs() + ARGV[4]), id)
end
return 1
