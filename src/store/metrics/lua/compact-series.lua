#!lua flags=allow-oom
-- Replaces the oldest rows of a series by the blocks that contain them, in one step.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 revision of the series that the blocks continue ('' before the first compaction), 3 bytes of the
--           rows that are in the blocks, then fields and their values in turn
-- Returns   'compacted' | 'changed': another process compacted, archived or deleted them; nothing was changed

local key = KEYS[1] .. ':x:' .. ARGV[1] .. ':series'
local bytes = tonumber(ARGV[3])
if (redis.call('HGET', key, 'revision') or '') ~= ARGV[2] then return 'changed' end
if redis.call('STRLEN', key .. ':rows') < bytes then return 'changed' end
for i = 4, #ARGV, 2 do redis.call('HSET', key, ARGV[i], ARGV[i + 1]) end
redis.call('HINCRBY', key, 'revision', 1)
local rest = redis.call('GETRANGE', key .. ':rows', bytes, -1)
if rest == '' then redis.call('DEL', key .. ':rows') else redis.call('SET', key .. ':rows', rest) end
return 'compacted'
