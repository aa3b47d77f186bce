#!lua flags=allow-oom
-- Lets leases expire now. The caller writes nothing for them afterwards.
--
-- KEYS[1]   root of all keys
-- ARGV      for each lease: experiment, attempt, token
-- Returns   number of leases that were valid
-- Events    PUBLISH wake 'lease', so that another dispatcher takes over at once
-- include time
-- include state
-- include suspects

local root, released = KEYS[1], 0
for i = 1, #ARGV, 3 do
  if holds(root .. ':x:' .. ARGV[i], ARGV[i + 1], ARGV[i + 2]) then
    -- After a restart of the server, take-over.lua extends every other lease, but not 0.
    redis.call('ZADD', root .. ':leases', 0, ARGV[i])
    leaveUnsettled(root, ARGV[i])
    released = released + 1
  end
end
if released > 0 then redis.call('PUBLISH', root .. ':wake', 'lease') end
return released
