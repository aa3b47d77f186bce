#!lua flags=allow-oom
-- Sets, changes or removes one entry of the hash of projects or of API keys, where it still is what the caller read.
-- A project that was removed is there again when its entry is set (see remove-project.lua).
--
-- KEYS[1]   root of all keys
-- ARGV      1 'projects' or 'api-keys', 2 field, 3 what it was read as ('' for none), 4 what it becomes ('' to remove),
--           5 a project that must be there ('' for none), 6 of a project: the revision that it must have, or ''
-- Returns   1; nothing was changed: 0 where it is another by now, or that project is gone; 'changed-since'
-- include access
-- include revision

local hash = KEYS[1] .. ':' .. ARGV[1]
if ARGV[5] ~= '' and redis.call('HEXISTS', KEYS[1] .. ':projects', ARGV[5]) == 0 then return 0 end
if not hasRevision(KEYS[1], 'project', ARGV[2], ARGV[6]) then return 'changed-since' end
if (redis.call('HGET', hash, ARGV[2]) or '') ~= ARGV[3] then return 0 end
if ARGV[4] == '' then
  redis.call('HDEL', hash, ARGV[2])
else
  redis.call('HSET', hash, ARGV[2], ARGV[4])
  if ARGV[1] == 'projects' then redis.call('SREM', hash .. ':removed', ARGV[2]) end
end
if ARGV[1] == 'projects' then raiseRevision(KEYS[1], 'project', ARGV[2]) end
accessChanged(KEYS[1])
return 1
