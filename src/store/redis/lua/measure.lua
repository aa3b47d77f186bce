-- Needs time.
-- include bytes
-- include keys

-- Replaces the count of a finished experiment, whose parts changed in many steps, by the size of its keys.
local function measureBytes(root, project, x)
  local bytes = PLACE_BYTES + redis.call('MEMORY', 'USAGE', x)
  for _, name in ipairs(EXPERIMENT_KEYS) do
    bytes = bytes + (redis.call('MEMORY', 'USAGE', x .. ':' .. name) or 0)
  end
  countBytes(root, project, x, bytes - (redis.call('HGET', x, 'bytes') or 0))
end
