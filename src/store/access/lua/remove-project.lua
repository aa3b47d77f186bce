#!lua flags=allow-oom
-- Removes a project without experiments, sweeps and valid API keys. {root}:projects:removed then refuses new ones, also
-- those that were decided before, until the project is created again.
--
-- KEYS[1]   root of all keys
-- ARGV      1 name, 2 the revision that it must have, or '', 3 version of keys and projects that the caller read,
--           4 '1' if a valid API key belongs to the project by that version, 5 the project that always exists: only its
--           settings are removed
-- Returns   'removed' | 'absent' | 'changed-since' | 'experiments' | 'sweeps' | 'keys': the project still has some |
--           'moved': a key or a project has changed since the caller read them
-- include time
-- include access
-- include revision
-- include subscription

local root, name = KEYS[1], ARGV[1]
if redis.call('HEXISTS', root .. ':projects', name) == 0 then return 'absent' end
if not hasRevision(root, 'project', name, ARGV[2]) then return 'changed-since' end
if redis.call('ZCARD', root .. ':project:' .. name) > 0 then return 'experiments' end
if redis.call('ZCARD', root .. ':sweeps:' .. name) > 0 then return 'sweeps' end
if (redis.call('GET', root .. ':access-version') or '') ~= ARGV[3] then return 'moved' end
-- A key that outlived its project would see a later one of the same name.
if ARGV[4] == '1' then return 'keys' end
redis.call('HDEL', root .. ':projects', name)
redis.call('HDEL', root .. ':bytes', name)
if name ~= ARGV[5] then redis.call('SADD', root .. ':projects:removed', name) end
redis.call('HDEL', root .. ':paused', 'project:' .. name, 'closed:' .. name)
redis.call('UNLINK', root .. ':feed:p:' .. name)
for _, id in ipairs(redis.call('HKEYS', root .. ':subscriptions:' .. name)) do removeSubscription(root, name, id) end
raiseRevision(root, 'project', name)
accessChanged(root)
return 'removed'
