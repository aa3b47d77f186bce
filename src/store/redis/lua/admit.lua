-- Who closed the queue of all projects or of this one (JSON); false if it is open.
local function closedBy(root, project)
  local notes = redis.call('HMGET', root .. ':paused', 'closed', 'closed:' .. project)
  return notes[1] or notes[2]
end

-- Whether so many more experiments of a project may wait, beside those in the line and those that its sweeps will make.
local function hasRoom(root, project, count, most)
  local waiting = redis.call('ZCARD', root .. ':queue:' .. project)
  local toCome = redis.call('HGET', root .. ':to-come', project) or 0
  return waiting + toCome + count <= tonumber(most)
end

-- Why new work is not taken in, as the answer of the step; nil where it is.
-- new: project, count (experiments that it makes now or later), accepting ('1' where the store has room),
--      most (experiments of one project that may wait)
local function refused(root, new)
  if new.accepting ~= '1' then return { 'full' } end
  if redis.call('SISMEMBER', root .. ':projects:removed', new.project) == 1 then return { 'no-project' } end
  local closed = closedBy(root, new.project)
  if closed then return { 'closed', closed } end
  if not hasRoom(root, new.project, new.count, new.most) then return { 'queue-full' } end
end
