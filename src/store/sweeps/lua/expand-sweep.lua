#!lua
-- Creates the experiments of the next children of a sweep and counts them in the same step. A repeated or concurrent call
-- therefore creates no child twice and skips none.
--
-- KEYS[1]   root of all keys
-- ARGV      1 sweep, 2 index of the first child, 3 '1' if the store accepts new work, 4 MAX bytes of a project
--           without a quota of its own (0: no limit), 5 version of a record's layout, then for each child a table (JSON):
--           its fields with patch (see redis/lua/create.lua)
-- Returns   'ok'
-- Errors    'moved': another child is next, or the sweep is cancelled or does not exist; 'full', also if its
--           project is over its quota
-- Events    state: null -> queued of each child; PUBLISH wake 'queue'
-- include time
-- include state
-- include create
-- include admit

local root, id = KEYS[1], ARGV[1]
local s = root .. ':sweep:' .. id
local record = redis.call('HMGET', s, 'state', 'expanded', 'count', 'project', 'free')
if record[1] ~= 'running' or record[2] ~= ARGV[2] then return 'moved' end
if ARGV[3] ~= '1' or overQuota(root, record[4], argumentBytes(), ARGV[4]) then return 'full' end
local now, index = nowMs(), tonumber(ARGV[2])
for at = 6, #ARGV do
  createChild(root, cjson.decode(ARGV[at]), { project = record[4], version = ARGV[5], now = now, sweep = id,
    index = int(index), reason = 'child ' .. int(index) .. ' of ' .. id })
  index = index + 1
end
redis.call('HSET', s, 'expanded', int(index))
countToCome(root, s)
-- If children depend on others, release-sweep.lua finds out when no work is left.
if not record[5] and index >= tonumber(record[3]) then redis.call('ZREM', root .. ':sweep-work', id) end
redis.call('PUBLISH', root .. ':wake', 'queue')
return 'ok'
