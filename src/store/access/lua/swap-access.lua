#!lua flags=allow-oom
-- Sets, changes or removes one entry of the hash of projects or of API keys, if it is still as the caller read it. Setting
-- the entry of a removed project creates the project again (see remove-project.lua).
--
-- KEYS[1]   root of all keys
-- ARGV      1 'projects' or 'api-keys', 2 field, 3 value as read ('' for none), 4 new value ('' to remove),
--           5 a project that must exist, or '', 6 for a project: the revision that it must have, or ''
-- Returns   1; 0: the entry has changed, or that project does not exist; 'changed-since'. Without 1, nothing was changed
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
