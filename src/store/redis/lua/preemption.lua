-- Preempted experiments that have not stopped yet: {root}:leaving, a hash of JSON by experiment: by (the queued experiment that
-- needs the room), until (ms, when it is stopped at the latest), reason. Needs time and state.

-- Records in the stream of a running experiment that it is preempted, or that this was withdrawn (until: null).
local function recordPreemption(root, id, change)
  local x = root .. ':x:' .. id
  local record = redis.call('HMGET', x, 'project', 'name', 'sweep', 'attempt')
  local event = '{"type":"preemption","attempt":' .. record[4] .. ',"until":' .. change.untilMs
    .. ',"reason":' .. cjson.encode(change.reason) .. '}'
  local bytes = addEntry(x, record[4] .. '-*', 't', 'preemption', 'a', int(change.now), 'd', event)
  countStream(root, record[1], x, bytes)
  redis.call('PUBLISH', x .. ':changed', 'preemption')
  publishToFeeds(root, { project = record[1], experiment = id, name = record[2], sweep = record[3], at = change.now,
    event = event })
end

-- The preemption of a running experiment (table), or nil. It is withdrawn if the other experiment is not queued any more. It
-- counts all the same, since the stop may be under way.
local function preemptionOf(root, id, now)
  local text = redis.call('HGET', root .. ':leaving', id)
  if not text then return nil end
  local leaving = cjson.decode(text)
  if redis.call('HGET', root .. ':x:' .. leaving.by, 'state') == 'queued' then return leaving end
  redis.call('HDEL', root .. ':leaving', id)
  recordPreemption(root, id, { untilMs = 'null', reason = 'it is not preempted any more', now = now })
  return nil
end
