#!lua flags=allow-oom
-- Deletes sweeps of a project that ended long ago and whose children are all deleted.
--
-- KEYS[1]   root of all keys
-- ARGV      1 project, 2 end before this (ms), 3 MAX sweeps to examine, 4 arrival of the last examined sweep or '',
--           then the suffixes of the keys of a sweep
-- Returns   {number of deleted sweeps, arrival of the last examined one ('' at the end)}
-- include time
-- include bytes

local root, project, before = KEYS[1], ARGV[1], tonumber(ARGV[2])
local list = root .. ':sweeps:' .. project
local from = ARGV[4] == '' and '-inf' or ('(' .. ARGV[4])
local found = redis.call('ZRANGEBYSCORE', list, from, '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[3])
local deleted = 0
for at = 1, #found, 2 do
  local id = found[at]
  local s = root .. ':sweep:' .. id
  local endedAt = tonumber(redis.call('HGET', s, 'endedAt') or '')
  local busy = redis.call('ZSCORE', root .. ':sweep-work', id) or redis.call('EXISTS', s .. ':experiments') == 1
  if endedAt and endedAt < before and not busy then
    dropBytes(root, project, s)
    redis.call('UNLINK', s)
    for name = 5, #ARGV do redis.call('UNLINK', s .. ':' .. ARGV[name]) end
    redis.call('ZREM', list, id)
    redis.call('ZREM', root .. ':sweeps', id)
    if redis.call('ZREM', root .. ':comparisons', id) == 1 then
      redis.call('ZREM', root .. ':comparisons:' .. project, id)
      redis.call('ZREM', root .. ':comparison-work', id)
      -- Its runs have objects in the archive.
      redis.call('SADD', root .. ':archive:garbage', id)
    end
    deleted = deleted + 1
  end
end
return { deleted, #found < 2 * ARGV[3] and '' or found[#found] }
