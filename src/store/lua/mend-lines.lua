#!lua flags=allow-oom
-- Makes the lines of the projects anew from the line of all, where the two do not hold the same number: records that
-- were made before there were lines of projects, or are made by an older version beside this one.
--
-- KEYS[1]   root of all keys
-- ARGV      none
-- Returns   how many wait
-- include line

local root = KEYS[1]
for _, project in ipairs(redis.call('SMEMBERS', root .. ':lines')) do redis.call('DEL', root .. ':line:' .. project) end
redis.call('DEL', root .. ':lines')
local waiting = redis.call('ZRANGE', root .. ':line', 0, -1, 'WITHSCORES')
for i = 1, #waiting, 2 do
  local project = redis.call('HGET', root .. ':x:' .. waiting[i], 'project')
  if project then standInLine(root, waiting[i], project, waiting[i + 1]) end
end
return #waiting / 2
