-- Future children of the sweeps of a project: {root}:to-come has their number by project, the field `toCome` of a sweep
-- its share. To be called after each change of the number of created, skipped or cancelled children.
local function countToCome(root, s)
  local sweep = redis.call('HMGET', s, 'state', 'count', 'expanded', 'made', 'skipped', 'toCome', 'project')
  local left = sweep[1] == 'running' and sweep[2] - sweep[3] - (sweep[4] or 0) - (sweep[5] or 0) or 0
  local change = left - (sweep[6] or 0)
  if change == 0 then return end
  redis.call('HSET', s, 'toCome', left)
  if redis.call('HINCRBY', root .. ':to-come', sweep[7], change) <= 0 then
    redis.call('HDEL', root .. ':to-come', sweep[7])
  end
end
