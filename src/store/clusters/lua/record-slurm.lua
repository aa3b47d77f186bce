#!lua flags=allow-oom
-- Records the jobs that a cluster has in Slurm, if the dispatcher has the lease of that work.
--
-- KEYS[1]   root of all keys
-- ARGV      1 dispatcher, 2 cluster, 3 jobs (JSON)
-- Returns   1, or 0 if another dispatcher has the lease, or the cluster gets no nodes from Slurm
-- Events    PUBLISH wake 'queue'

local root = KEYS[1]
local set = root .. ':clusters:set'
if redis.call('GET', root .. ':slurm') ~= ARGV[1] then return 0 end
if redis.call('HEXISTS', set, 'slurm:' .. ARGV[2]) == 0 then return 0 end
local field = 'slurmState:' .. ARGV[2]
if redis.call('HGET', set, field) == ARGV[3] then return 1 end
redis.call('HSET', set, field, ARGV[3])
redis.call('PUBLISH', root .. ':wake', 'queue')
return 1
