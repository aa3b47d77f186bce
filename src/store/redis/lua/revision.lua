-- The revision of an experiment, a project or a cluster: a number that only changes by users raise. A write that names a
-- revision is refused in its own step if the record has a higher one. The revision of a project or a cluster outlives
-- it: a second one of that name continues the count.
local function revisionAt(root, kind, name)
  if kind == 'experiment' then return root .. ':x:' .. name, 'revision' end
  return root .. ':revisions', kind .. ':' .. name
end

local function raiseRevision(root, kind, name)
  local key, field = revisionAt(root, kind, name)
  redis.call('HINCRBY', key, field, 1)
end

-- True if the write names no revision ('' or nil) or the current one.
local function hasRevision(root, kind, name, revision)
  if (revision or '') == '' then return true end
  local key, field = revisionAt(root, kind, name)
  return (redis.call('HGET', key, field) or '0') == revision
end
