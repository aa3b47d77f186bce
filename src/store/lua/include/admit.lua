-- Why new work is not taken in, as the answer of the step; nil where it is.
-- new: project, count (experiments that it makes now or later), accepting ('1' where the store has room),
--      most (experiments of one project that may wait)
local function refused(root, new)
  if new.accepting ~= '1' then return { 'full' } end
  if redis.call('SISMEMBER', root .. ':projects:removed', new.project) == 1 then return { 'no-project' } end
  local waiting = redis.call('ZCARD', root .. ':line:' .. new.project)
  if waiting + new.count > tonumber(new.most) then return { 'line-full' } end
end

-- Children of a project's sweeps that are not made yet. Looks at the sweeps that wait longest to be made: together with
-- those that wait in the line that is enough to bound what one project can ask for.
local SWEEPS_LOOKED_AT = 100
local function childrenToCome(root, project)
  local count = 0
  for _, id in ipairs(redis.call('ZRANGE', root .. ':sweep-work', 0, SWEEPS_LOOKED_AT - 1)) do
    local sweep = redis.call('HMGET', root .. ':sweep:' .. id, 'project', 'state', 'count', 'expanded')
    if sweep[1] == project and sweep[2] == 'running' then count = count + sweep[3] - sweep[4] end
  end
  return count
end
