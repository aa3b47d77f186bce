#!lua flags=allow-oom
-- Acquires the lease of an allocated attempt for the dispatcher that received the experiment's job.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 dispatcher, 3 leaseMs, 4 token (made by the caller, so that a repeated call finds its own),
--           5 clusters that the dispatcher does not reach (JSON), 6 newest layout of a record that it reads
-- Returns   {'acquired', attempt, cluster}
-- Errors    {'busy'}: the dispatcher has a suspect or prepares for one (redis/lua/suspects.lua), does not reach the cluster, or is
--           too old for the record;
--           {'queued'}: nothing is allocated to it; {'over'}: it has ended, or another dispatcher acquired the attempt
-- include time
-- include state
-- include allocation
-- include server
-- include suspects

local root, id, dispatcher = KEYS[1], ARGV[1], ARGV[2]
local x = root .. ':x:' .. id
local record = redis.call('HMGET', x, 'state', 'attempt', 'cluster', 'token', 'version')
if record[1] == 'queued' then return { 'queued' } end
if not record[1] or not HELD[record[1]] then return { 'over' } end
if record[4] == ARGV[4] then return { 'acquired', record[2], record[3] } end
if not isAllocated(root, id) then return { 'over' } end
if tonumber(record[5] or '1') > tonumber(ARGV[6]) then return { 'busy' } end
-- What lasts longer than a lease was dated by a clock that had leapt.
local alone = redis.call('PTTL', root .. ':alone:' .. dispatcher)
if alone >= 0 and alone <= tonumber(ARGV[3]) then return { 'busy' } end
for _, cluster in ipairs(cjson.decode(ARGV[5])) do
  if cluster == record[3] then return { 'busy' } end
end

-- The first lease stores the run of the server; take-over.lua compares it.
if redis.call('EXISTS', root .. ':server') == 0 then redis.call('SET', root .. ':server', serverRun()) end
redis.call('ZREM', root .. ':allocated', id)
redis.call('HDEL', x, 'allocation')
redis.call('HSET', x, 'token', ARGV[4], 'dispatcher', dispatcher)
redis.call('SADD', unsettledOf(root, dispatcher), id)
redis.call('ZADD', root .. ':leases', int(nowMs() + ARGV[3]), id)
return { 'acquired', record[2], record[3] }
