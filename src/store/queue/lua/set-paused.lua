#!lua flags=allow-oom
-- Pauses all queues, a project's queue or a cluster (nothing new starts), closes all queues or a project's (nothing new is
-- accepted), or ends that. Allocations and submissions check it in their own step.
--
-- KEYS[1]   root of all keys
-- ARGV      1 paused: 'all', 'project:<name>' or 'cluster:<name>'; closed: 'closed' or 'closed:<project>',
--           2 who did it, when and why (JSON), or '' to resume, 3 a cluster that must exist, or ''
-- Returns   1, or 0 if there is no such cluster
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
