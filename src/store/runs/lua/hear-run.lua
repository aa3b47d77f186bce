#!lua flags=allow-oom
-- Notes that the client of an external run is not silent, and returns what its next events are compared with. A run that is
-- being cancelled stays due.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 attempt, 3 token, 4 silenceMs, 5 MAX bytes of a project without a quota of its
--           own (0: no limit), 6 bytes that the client sends
-- Returns   {'ok', last recorded number, then nothing or, if its project would exceed its quota, the bytes of the project and
--           their bound}
-- Errors    {'lost'}: the lease is not that of an open run
-- include time
-- include state
-- include admit

local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
if not holds(x, ARGV[2], ARGV[3]) or not redis.call('ZSCORE', root .. ':runs', id) then return { 'lost' } end
if redis.call('HGET', x, 'state') == 'running' then
  redis.call('ZADD', root .. ':runs', int(nowMs() + ARGV[4]), id)
end
local over = overQuota(root, redis.call('HGET', x, 'project'), tonumber(ARGV[6]), ARGV[5]) or {}
local last = redis.call('HGET', x .. ':attempts', ARGV[2] .. ':last') or '0'
return { 'ok', last, over[2], over[3] }
