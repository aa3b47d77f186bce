-- Needs time.
-- include bytes
-- include keys
-- include pending

-- Removes its batches from the pending ones. Usually none is pending, however many it has.
local function dropBatches(root, id)
  local x = root .. ':x:' .. id
  local counts = redis.call('HMGET', x, 'vBatches', 'vVerified')
  if (counts[1] or '0') == (counts[2] or '0') then return end
  local members = redis.call('HKEYS', x .. ':batches')
  for i, batch in ipairs(members) do members[i] = id .. ':' .. batch end
  -- unpack() fails above some 8,000 values.
  for from = 1, #members, 1000 do
    local to = math.min(from + 999, #members)
    dropPending(root, unpack(members, from, to))
  end
end

-- Removes an experiment that has ended with all its data, in one step. Its bytes in the archive and its event logs on a
-- cluster are marked for deletion. Counts of its sweep and answers to repeated requests do not change.
-- Returns 'deleted' | 'not-ended' | 'not-found'
local function removeExperiment(root, id)
  local x = root .. ':x:' .. id
  local record = redis.call('HMGET', x, 'state', 'endedAt', 'project', 'sweep', 'attempt')
  if not record[1] then return 'not-found' end
  if not record[2] then return 'not-ended' end
  dropBatches(root, id)
  local project = record[3]
  for _, index in ipairs({ 'all', 'project:' .. project, 'state:' .. record[1],
    'project-state:' .. record[1] .. ':' .. project, 'archiving', 'due:batches:' .. project,
    'due:streams:' .. project, 'due:records:' .. project, 'signals', 'signals:waits' }) do
    redis.call('ZREM', root .. ':' .. index, id)
  end
  if record[4] then redis.call('ZREM', root .. ':sweep:' .. record[4] .. ':experiments', id) end
  dropBytes(root, project, x)
  redis.call('UNLINK', x)
  for _, name in ipairs(EXPERIMENT_KEYS) do redis.call('UNLINK', x .. ':' .. name) end
  redis.call('SREM', root .. ':series-due', id)
  redis.call('SADD', root .. ':archive:garbage', id)
  -- Its attempts left event logs on a cluster. Without its record, every cluster is asked to delete them.
  if (record[5] or '0') ~= '0' then redis.call('ZADD', root .. ':forgetting', record[2], id) end
  redis.call('PUBLISH', x .. ':changed', 'deleted')
  return 'deleted'
end
