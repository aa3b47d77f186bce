-- The bytes of projects in Redis: {root}:bytes has the sum of each project, and the field `bytes` of an experiment or a sweep
-- its share. The field `streamBytes` of an experiment is the part of its live stream. A share changes only together with
-- the sum, in the step that changes the data. No other code writes these fields. Needs time.

-- Counted for an experiment beside its record and stream: its places in indexes and its job.
local PLACE_BYTES = 1500

local function countBytes(root, project, key, change)
  if change == 0 then return end
  redis.call('HINCRBY', key, 'bytes', int(change))
  redis.call('HINCRBY', root .. ':bytes', project, int(change))
end

-- Takes the share of a record from the sum, before the record is deleted.
local function dropBytes(root, project, key)
  local share = redis.call('HGET', key, 'bytes')
  if share and redis.call('HINCRBY', root .. ':bytes', project, int(-share)) <= 0 then
    redis.call('HDEL', root .. ':bytes', project)
  end
end

-- Counts a change of the live stream of the experiment at `x`.
local function countStream(root, project, x, change)
  redis.call('HINCRBY', x, 'streamBytes', int(change))
  countBytes(root, project, x, change)
end

-- Adds an entry to the stream of the experiment at `x`. Returns its bytes, as `sizeOf` in archive-segments.ts counts them.
local function addEntry(x, id, ...)
  local bytes = 8 + #redis.call('XADD', x .. ':events', id, ...)
  for _, field in ipairs({ ... }) do bytes = bytes + 4 + #tostring(field) end
  return bytes
end
