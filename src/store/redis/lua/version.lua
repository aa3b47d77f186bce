-- The version of a record: another one after every change that a person decides. A write that names the version it
-- was decided on is refused in its own step where the record has another by now.
--   experiment  its revision: a number that each decision of a person raises (submit, priority, cancel), and nothing else
--   project     its entry; '' for `default` where nothing was ever set of it
--   cluster     what people decide of it: its place and secrets, labels, backfill, code paths, drain and pause; not what is reserved
--               there, nor what its ray-worker says every two seconds
local CLUSTER_FIELDS = { 'address', 'token', 'ca', 'backfill' }
local RAY_FIELDS = { 'address', 'token', 'sharedRoot', 'node', 'port', 'advertise' }
local TLS_FIELDS = { 'ca', 'cert', 'key', 'serverName' }

-- Appends what an object holds under these names: a record also keeps what was seen when it was written.
local function addFields(parts, from, names)
  local object = type(from) == 'table' and from or {}
  for _, name in ipairs(names) do parts[#parts + 1] = cjson.encode(object[name] or cjson.null) end
  return object
end

local function clusterParts(root, name)
  local clusters, parts = root .. ':clusters', {}
  local text = redis.call('HGET', clusters, name)
  if not text then return parts end
  local record = addFields(parts, cjson.decode(text), CLUSTER_FIELDS)
  addFields(parts, addFields(parts, record.ray, RAY_FIELDS).tls, TLS_FIELDS)
  local set = redis.call('HMGET', clusters .. ':set', 'labels:' .. name, 'backfill:' .. name,
    'codePaths:' .. name)
  parts[#parts + 1], parts[#parts + 2], parts[#parts + 3] = set[1], set[2], set[3]
  parts[#parts + 1] = redis.call('SISMEMBER', clusters .. ':draining', name)
  parts[#parts + 1] = redis.call('HGET', root .. ':paused', 'cluster:' .. name)
  return parts
end

local function versionOf(root, kind, name)
  local parts = {}
  if kind == 'experiment' then
    return redis.call('HGET', root .. ':x:' .. name, 'revision') or '0'
  elseif kind == 'project' then
    parts[1] = redis.call('HGET', root .. ':projects', name)
  else
    parts = clusterParts(root, name)
  end
  return redis.sha1hex(cmsgpack.pack(parts))
end

-- A person decided something of the experiment at `x`.
local function raiseRevision(x)
  redis.call('HINCRBY', x, 'revision', 1)
end

-- True where no version was named ('' or nil), or the record has it still.
local function hasVersion(root, kind, name, version)
  return (version or '') == '' or versionOf(root, kind, name) == version
end
