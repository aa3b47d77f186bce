#!lua flags=allow-oom
-- Lets nothing new start in the line, of a project or on a cluster, or takes nothing new into the line or that of a
-- project, or lets it again. Claims and submissions look at this in their own step.
--
-- KEYS[1]   root of all keys
-- ARGV      1 'all', 'project:<name>' or 'cluster:<name>'; 'closed' or 'closed:<project>'; 2 who paused or drained it, when and why (JSON); '': it is resumed,
--           3 the cluster that must be known, or ''
-- Returns   1, or 0 where there is no such cluster
-- Events    PUBLISH wake 'queue'
-- include revision

local root = KEYS[1]
if ARGV[3] ~= '' and redis.call('HEXISTS', root .. ':clusters', ARGV[3]) == 0 then return 0 end
if ARGV[2] == '' then
  redis.call('HDEL', root .. ':paused', ARGV[1])
else
  redis.call('HSET', root .. ':paused', ARGV[1], ARGV[2])
end
if ARGV[3] ~= '' then raiseRevision(root, 'cluster', ARGV[3]) end
redis.call('PUBLISH', root .. ':wake', 'queue')
return 1
