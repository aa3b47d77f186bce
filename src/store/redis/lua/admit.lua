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

-- Why new work is refused, as the answer of the step; nil if it is accepted.
-- new: project, count (experiments that it creates now or later), accepting ('1' if the store has room),
--      max (queued experiments of one project)
local function refused(root, new)
  if new.accepting ~= '1' then return { 'full' } end
  if redis.call('SISMEMBER', root .. ':projects:removed', new.project) == 1 then return { 'no-project' } end
  local closed = closedBy(root, new.project)
  if closed then return { 'closed', closed } end
  if not hasRoom(root, new.project, new.count, new.max) then return { 'queue-full' } end
end
