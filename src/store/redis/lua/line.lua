-- The line of each project, beside the line of all: {root}:line:<project> has the same scores, {root}:lines is the set
-- of projects of which somebody waits. An experiment stands there exactly while it is queued.

-- Its score: by priority, then by arrival.
local function placeInLine(seq, priority)
  return string.format('%.0f', seq - priority * 4398046511104)
end

local function standInLine(root, id, project, score)
  redis.call('ZADD', root .. ':line:' .. project, score, id)
  redis.call('SADD', root .. ':lines', project)
end

local function leaveLine(root, id, project)
  redis.call('ZREM', root .. ':line:' .. project, id)
  if redis.call('EXISTS', root .. ':line:' .. project) == 0 then redis.call('SREM', root .. ':lines', project) end
end
