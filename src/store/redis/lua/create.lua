-- Creates experiments. Needs time and state.
-- include limits

-- Creates an experiment: record, indexes, limits, first event.
-- new: the fields of `newExperiment` (new-experiment.ts): id, name, priority, wanted, gpus, cpus, fingerprint, customCode ('1' or
--      ''), timeoutMs, deadlineAt, labels (JSON), nodes, nodeLabels (JSON), tags (one a line), saveEvery (steps
--      from one checkpoint to the next), '' for each that it omits;
--      project, version (of the record's layout), reason, now (ms); submitted, resolved and defaults (JSON each), or patch: how
--      they differ from those that the children of its sweep share; for a child of a sweep: sweep, index; for a rerun: rerunOf;
--      owner: the caller, if it is not that of the sweep
-- first: its state and its attempt (string)
local function createRecord(root, new, first)
  local id, x = new.id, root .. ':x:' .. new.id
  local seq = redis.call('INCR', root .. ':seq')
  local record = { 'version', new.version, 'id', id, 'project', new.project, 'name', new.name,
    'priority', new.priority, 'wanted', new.wanted, 'gpus', new.gpus, 'cpus', new.cpus,
    'nodes', new.nodes, 'fingerprint', new.fingerprint, 'seq', int(seq), 'submittedAt', int(new.now),
    'attempt', first.attempt, 'state', first.state, 'reason', new.reason }
  local function also(field, value)
    record[#record + 1], record[#record + 2] = field, value
  end
  if new.patch then
    also('patch', new.patch)
  else
    also('submitted', new.submitted)
    also('resolved', new.resolved)
    also('defaults', new.defaults)
  end
  if new.customCode ~= '' then also('customCode', new.customCode) end
  if new.labels ~= '' then also('wantedLabels', new.labels) end
  if new.nodeLabels ~= '' then also('nodeLabels', new.nodeLabels) end
  if new.tags ~= '' then also('tags', new.tags) end
  if new.saveEvery ~= '' then also('saveEvery', new.saveEvery) end
  if (new.rerunOf or '') ~= '' then also('rerunOf', new.rerunOf) end
  local owner = new.owner or (new.sweep and redis.call('HGET', root .. ':sweep:' .. new.sweep, 'owner')) or ''
  if owner ~= '' then also('owner', owner) end
  if new.sweep then
    also('sweep', new.sweep)
    also('sweepIndex', new.index)
    redis.call('ZADD', root .. ':sweep:' .. new.sweep .. ':experiments', int(seq), id)
  end
  local bytes = PLACE_BYTES
  for _, value in ipairs(record) do bytes = bytes + 2 + #tostring(value) end
  redis.call('HSET', x, unpack(record))
  countBytes(root, new.project, x, bytes)
  redis.call('ZADD', root .. ':all', int(seq), id)
  redis.call('ZADD', root .. ':project:' .. new.project, int(seq), id)
  storeLimits(root, id, new.timeoutMs, new.deadlineAt)
  moveState(root, id, { from = false, to = first.state, attempt = first.attempt, reason = new.reason, now = new.now,
    place = { int(seq), new.project, new.sweep or false, new.name, new.priority } })
  -- Redis reserves 4 kB for the first entries of a stream, as much as the rest of a queued experiment. A copy has no reserve.
  local events = x .. ':events'
  redis.call('COPY', events, events .. ':copy')
  redis.call('RENAME', events .. ':copy', events)
end

-- Creates a queued experiment, as `createRecord` does, and adds it to the queue.
local function createWaiting(root, new)
  createRecord(root, new, { state = 'queued', attempt = '0' })
end

-- Creates the queued experiment of a child of a sweep.
-- child: fields as above, with patch
-- more: project, version, now, sweep, index, reason
local function createChild(root, child, more)
  for name, value in pairs(more) do child[name] = value end
  createWaiting(root, child)
end
