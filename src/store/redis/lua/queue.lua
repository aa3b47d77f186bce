-- The queue, the only ordering of queued experiments: {root}:queue has all of them, {root}:queue:<project> those of one
-- project with the same scores, and {root}:queues the names of these projects. An experiment is in the queue exactly
-- while its state is `queued`. No other code writes these keys.

-- The score of an experiment: by class and priority (one number, see src/core/priority-class.ts), then by arrival.
local function queueScore(seq, priority)
  return string.format('%.0f', seq - priority * 4398046511104)
end

-- Adds an experiment to the queue, or changes its position.
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
