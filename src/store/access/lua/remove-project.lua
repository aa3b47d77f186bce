#!lua flags=allow-oom
-- Removes a project to which nothing belongs. From then on until it is made again nothing new belongs to it, also not
-- what was decided before ({root}:projects:removed).
--
-- KEYS[1]   root of all keys
-- ARGV      1 name, 2 now (ms), 3 the revision that it must have, or '',
--           4 the project that is always there: of it only what was set goes
-- Returns   'removed' | 'absent' | 'changed-since' | 'experiments' | 'sweeps' | 'keys': what belongs to it still
-- include access
-- include revision

local root, name, now = KEYS[1], ARGV[1], tonumber(ARGV[2])
if redis.call('HEXISTS', root .. ':projects', name) == 0 then return 'absent' end
if not hasRevision(root, 'project', name, ARGV[3]) then return 'changed-since' end
if redis.call('ZCARD', root .. ':project:' .. name) > 0 then return 'experiments' end
if redis.call('ZCARD', root .. ':sweeps:' .. name) > 0 then return 'sweeps' end
-- A key that outlived its project would see a later one of the same name.
for _, text in ipairs(redis.call('HVALS', root .. ':api-keys')) do
  local key = cjson.decode(text)
  local live = key.revokedAt == cjson.null and (key.expiresAt == cjson.null or key.expiresAt > now)
  if live and key.project == name then return 'keys' end
end
redis.call('HDEL', root .. ':projects', name)
if name ~= ARGV[4] then redis.call('SADD', root .. ':projects:removed', name) end
redis.call('HDEL', root .. ':paused', 'project:' .. name, 'closed:' .. name)
redis.call('UNLINK', root .. ':feed:p:' .. name)
raiseRevision(root, 'project', name)
accessChanged(root)
return 'removed'
