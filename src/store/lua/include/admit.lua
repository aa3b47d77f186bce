-- Who drains the line of all, or of this project, as noted (JSON); false where nobody does.
local function drainedBy(root, project)
  local notes = redis.call('HMGET', root .. ':paused', 'drain', 'drain:' .. project)
  return notes[1] or notes[2]
end

-- Why new work is not taken in, as the answer of the step; nil where it is.
-- new: project, count (experiments that it makes now or later), accepting ('1' where the store has room),
--      most (experiments of one project that may wait)
local function refused(root, new)
  if new.accepting ~= '1' then return { 'full' } end
  if redis.call('SISMEMBER', root .. ':projects:removed', new.project) == 1 then return { 'no-project' } end
  local drained = drainedBy(root, new.project)
  if drained then return { 'draining', drained } end
  local waiting = redis.call('ZCARD', root .. ':line:' .. new.project)
  if waiting + new.count > tonumber(new.most) then return { 'line-full' } end
end

-- Children of a project's sweeps that are not made yet. Looks at those of its sweeps that wait longest to be made:
-- together with those that wait in the line that is enough to bound what one project can ask for, whatever others do.
local SWEEPS_LOOKED_AT, SWEEPS_PASSED = 100, 2000
local function childrenToCome(root, project)
  local count, looked = 0, 0
  for _, id in ipairs(redis.call('ZRANGE', root .. ':sweep-work', 0, SWEEPS_PASSED - 1)) do
    if looked == SWEEPS_LOOKED_AT then break end
    if redis.call('ZSCORE', root .. ':sweeps:' .. project, id) then
      looked = looked + 1
      local sweep = redis.call('HMGET', root .. ':sweep:' .. id, 'state', 'count', 'expanded')
      if sweep[1] == 'running' then count = count + sweep[2] - sweep[3] end
    end
  end
  return count
end
