#!lua flags=allow-oom
-- Makes the lines of the projects agree with the line of all, some places at a time: records that were made before there
-- were lines of projects, or are moved by an older version beside this one.
--
-- KEYS[1]   root of all keys
-- ARGV      1 'add', 2 the first place in the line of all (as ZRANGEBYSCORE takes it), 3 how many are looked at; or
--           1 'drop', 2 project, then experiments that stand in its line
-- Returns   of 'add': where to go on ('': nowhere); of 'drop': how many of them do not wait, and were taken out
-- include line

local root = KEYS[1]
if ARGV[1] == 'add' then
  local waiting = redis.call('ZRANGEBYSCORE', root .. ':line', ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[3])
  for i = 1, #waiting, 2 do
    local project = redis.call('HGET', root .. ':x:' .. waiting[i], 'project')
    if project then standInLine(root, waiting[i], project, waiting[i + 1]) end
  end
  return #waiting < 2 * ARGV[3] and '' or '(' .. waiting[#waiting]
end

local dropped = 0
for i = 3, #ARGV do
  if not redis.call('ZSCORE', root .. ':line', ARGV[i]) then
    leaveLine(root, ARGV[i], ARGV[2])
    dropped = dropped + 1
  end
end
return dropped
