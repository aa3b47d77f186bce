-- The queue, the only ordering of queued experiments: {root}:queue holds all of them, {root}:queue:<project> those of
-- one project, with the same scores, and {root}:queues names the projects that have any. An experiment stands there
-- exactly while its state is `queued`; nothing else writes these keys.

-- Its score: by priority, then by arrival.
local function queueScore(seq, priority)
  return string.format('%.0f', seq - priority * 4398046511104)
end

-- Puts an experiment into the queue, or to another position.
local function enqueue(root, id, project, score)
  redis.call('ZADD', root .. ':queue', score, id)
  redis.call('ZADD', root .. ':queue:' .. project, score, id)
  redis.call('SADD', root .. ':queues', project)
end

local function dequeue(root, id, project)
  redis.call('ZREM', root .. ':queue', id)
  redis.call('ZREM', root .. ':queue:' .. project, id)
  if redis.call('EXISTS', root .. ':queue:' .. project) == 0 then redis.call('SREM', root .. ':queues', project) end
end
