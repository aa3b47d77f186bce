-- What allocations have taken, by day: {root}:usage:<days since 1970> is a hash of `gpuMs <group>`, `cpuMs <group>` and
-- `attempts <group>`. A group is [project, owner, cluster, type of the GPUs] as JSON. Needs time.
local DAY_MS, USAGE_DAYS = 86400000, 400

-- Counts an allocation (JSON) that ends now: its GPUs and CPUs for the time since it was made.
local function countUsage(root, id, cluster, allocation)
  local now, x = nowMs(), root .. ':x:' .. id
  local record = redis.call('HMGET', x, 'project', 'owner', 'attempt')
  local since = tonumber(redis.call('HGET', x .. ':attempts', (record[3] or '') .. ':claimedAt') or now)
  local first = cjson.decode(allocation)
  local groups = {}
  local function add(part)
    local group = cjson.encode({ record[1] or '', record[2] or '', cluster, part.gpuType or '' })
    local sum = groups[group] or { gpus = 0, cpus = 0 }
    groups[group] = { gpus = sum.gpus + part.gpus, cpus = sum.cpus + part.cpus }
    return group
  end
  local own = add(first)
  for _, part in ipairs(first.others or {}) do add(part) end
  local today = math.floor(now / DAY_MS)
  for day = math.max(math.floor(since / DAY_MS), today - USAGE_DAYS), today do
    local key = root .. ':usage:' .. int(day)
    local ms = math.max(0, math.min(now, (day + 1) * DAY_MS) - math.max(since, day * DAY_MS))
    for group, sum in pairs(groups) do
      redis.call('HINCRBY', key, 'gpuMs ' .. group, int(sum.gpus * ms))
      redis.call('HINCRBY', key, 'cpuMs ' .. group, int(sum.cpus * ms))
    end
    if day == today then redis.call('HINCRBY', key, 'attempts ' .. own, 1) end
    redis.call('PEXPIREAT', key, int((day + USAGE_DAYS) * DAY_MS))
  end
end
