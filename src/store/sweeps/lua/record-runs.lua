#!lua flags=allow-oom
-- Notes where the archive has the ended runs of a comparison. Its work is over once no ended run lacks a record; the next end of a
-- run brings it back.
--
-- KEYS[1]   root of all keys
-- ARGV      1 sweep, 2 ends of runs that the caller knew, 3 '1' if no ended run lacks a record, then for each recorded run the
--           id of its experiment and the digest of its object
-- Returns   1, or 0 if there is no such sweep
-- include time
-- include bytes

local root, id = KEYS[1], ARGV[1]
local s = root .. ':sweep:' .. id
local record = redis.call('HMGET', s, 'project', 'ends')
if not record[1] then
  redis.call('ZREM', root .. ':comparison-work', id)
  return 0
end
for at = 4, #ARGV, 2 do
  if redis.call('HSETNX', s .. ':recorded', ARGV[at], ARGV[at + 1]) == 1 then
    countBytes(root, record[1], s, #ARGV[at] + #ARGV[at + 1])
  end
end
if ARGV[3] == '1' and (record[2] or '0') == ARGV[2] then redis.call('ZREM', root .. ':comparison-work', id) end
return 1
