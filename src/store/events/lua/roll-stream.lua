#!lua flags=allow-oom
-- Removes the oldest entries of a live stream from Redis after the archive has them. This bounds the memory of a running
-- experiment.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 id of the last archived entry, 3 index of all archived segments, 4 the index as read,
--           5 bytes of batch parts that these entries refer to, 6 bytes of these entries (see redis/lua/bytes.lua)
-- Returns   'rolled' | 'changed': another process did it | 'waiting': rules have not read all of these, or no entry comes
--           after them | 'gone': no such experiment
-- include time
-- include bytes

local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
local record = redis.call('HMGET', x, 'state', 'segments', 'project', 'streamBytes')
if not record[1] then return 'gone' end
if (record[2] or '') ~= ARGV[4] then return 'changed' end
local events = x .. ':events'
if redis.call('ZSCORE', root .. ':signals', id) then
  local cursor = redis.call('HGET', x .. ':rules', 'cursor') or ''
  local from = cursor == '' and '-' or ('(' .. cursor)
  -- A cursor after the last entry makes an empty range.
  if #redis.call('XRANGE', events, from, ARGV[2], 'COUNT', 1) > 0 then return 'waiting' end
end
local next = redis.call('XRANGE', events, '(' .. ARGV[2], '+', 'COUNT', 1)[1]
if not next then return 'waiting' end
redis.call('HSET', x, 'segments', ARGV[3])
redis.call('HINCRBY', x, 'longBytes', ARGV[5])
redis.call('XTRIM', events, 'MINID', next[1])
countStream(root, record[3], x, -math.min(ARGV[6], record[4] or 0))
return 'rolled'
