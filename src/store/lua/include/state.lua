local HELD = { launching = true, running = true, cancelling = true }

-- True where the record at `x` is held, in that attempt, under that token.
local function holds(x, attempt, token)
  local record = redis.call('HMGET', x, 'state', 'attempt', 'token')
  return record[1] and HELD[record[1]] and record[2] == attempt and record[3] == token
end

-- Moves an experiment between states: record, indexes, event, notice to followers.
-- change: from (false for none), to, attempt (string), reason, now (ms)
local function moveState(root, id, change)
  local x = root .. ':x:' .. id
  local place = redis.call('HMGET', x, 'seq', 'project')
  if change.from then
    redis.call('ZREM', root .. ':state:' .. change.from, id)
    redis.call('ZREM', root .. ':project-state:' .. change.from .. ':' .. place[2], id)
  end
  redis.call('ZADD', root .. ':state:' .. change.to, place[1], id)
  redis.call('ZADD', root .. ':project-state:' .. change.to .. ':' .. place[2], place[1], id)
  redis.call('HSET', x, 'state', change.to, 'reason', change.reason)
  local from = change.from and ('"' .. change.from .. '"') or 'null'
  local event = '{"type":"state","from":' .. from .. ',"to":"' .. change.to .. '","attempt":' .. change.attempt
    .. ',"reason":' .. cjson.encode(change.reason) .. '}'
  redis.call('XADD', x .. ':events', change.attempt .. '-*', 't', 'state', 'a', int(change.now), 'd', event)
  redis.call('PUBLISH', x .. ':changed', change.to)
end

-- Gives back what an experiment holds of its cluster, if it holds anything.
local function freeReservation(root, id, cluster)
  if not cluster then return end
  if redis.call('HDEL', root .. ':reserved:' .. cluster, id) == 1 then
    redis.call('HINCRBY', root .. ':versions', cluster, 1)
  end
end
