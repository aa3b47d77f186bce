-- The version of a record: another one after every change of it, whoever made it. A write that names the version it
-- was decided on is refused in its own step where the record has another by now.
--   experiment  all fields of its record
--   project     its entry; '' for `default` where nothing was ever set of it
--   cluster     what people decide of it and what is reserved there; not what its ray-worker says every two seconds
local function versionOf(root, kind, name)
  local parts = {}
  if kind == 'experiment' then
    local fields = redis.call('HGETALL', root .. ':x:' .. name)
    -- The order of a hash is the server's, and may change while nothing is written.
    local names, valueOf = {}, {}
    for at = 1, #fields, 2 do
      names[#names + 1], valueOf[fields[at]] = fields[at], fields[at + 1]
    end
    table.sort(names)
    for _, field in ipairs(names) do
      parts[#parts + 1], parts[#parts + 2] = field, valueOf[field]
    end
  elseif kind == 'project' then
    parts[1] = redis.call('HGET', root .. ':projects', name)
  else
    local clusters = root .. ':clusters'
    local set = redis.call('HMGET', clusters .. ':set', 'labels:' .. name, 'backfill:' .. name)
    local held = redis.call('HMGET', root .. ':versions', name, 'freed:' .. name)
    parts = { redis.call('HGET', clusters, name), set[1], set[2],
      redis.call('SISMEMBER', clusters .. ':draining', name),
      redis.call('HGET', root .. ':paused', 'cluster:' .. name), held[1], held[2] }
  end
  return redis.sha1hex(cmsgpack.pack(parts))
end

-- True where no version was named ('' or nil), or the record has it still.
local function hasVersion(root, kind, name, version)
  return (version or '') == '' or versionOf(root, kind, name) == version
end
