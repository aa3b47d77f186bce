-- Needs time.

-- Bytes of the arguments of the step: what it stores of a request.
local function argumentBytes()
  local bytes = 0
  for _, text in ipairs(ARGV) do bytes = bytes + #text end
  return bytes
end

-- Who closed the queue of all projects or of this one (JSON); false if it is open.
local function closedBy(root, project)
  local notes = redis.call('HMGET', root .. ':paused', 'closed', 'closed:' .. project)
  return notes[1] or notes[2]
end

-- Whether the queue of a project has room for `count` more experiments. Future children of its sweeps count as queued.
local function hasRoom(root, project, count, max)
  local queued = redis.call('ZCARD', root .. ':queue:' .. project)
  local toCome = redis.call('HGET', root .. ':to-come', project) or 0
  return queued + toCome + count <= tonumber(max)
end

-- The least that a future child of a sweep will take.
local CHILD_BYTES = 2500

-- The bytes of a project and their bound, as the answer of the step, if `more` bytes would exceed it; else nil.
-- quota: the bound of a project without one of its own, as a number or its text; 0: no limit
local function overQuota(root, project, more, quota)
  local used = tonumber(redis.call('HGET', root .. ':bytes', project) or '0')
  local record = redis.call('HGET', root .. ':projects', project)
  local own = record and cjson.decode(record).storeQuotaBytes
  if type(own) ~= 'number' and tonumber(quota) == 0 then return nil end
  local bound = type(own) == 'number' and own or tonumber(quota)
  if used + more > bound then return { 'over-quota', int(used), int(bound) } end
end

-- Why new work is refused, as the answer of the step; nil if it is accepted.
-- new: project, count (experiments that it adds to the queue now or later), accepting ('1' if the store has room),
--      max (queued experiments of one project), quota (see overQuota), bytes (that it takes now or later)
local function refused(root, new)
  if new.accepting ~= '1' then return { 'full' } end
  if redis.call('SISMEMBER', root .. ':projects:removed', new.project) == 1 then return { 'no-project' } end
  local closed = closedBy(root, new.project)
  if closed then return { 'closed', closed } end
  if not hasRoom(root, new.project, new.count, new.max) then return { 'queue-full' } end
  local toCome = redis.call('HGET', root .. ':to-come', new.project) or 0
  return overQuota(root, new.project, new.bytes + toCome * CHILD_BYTES, new.quota)
end
