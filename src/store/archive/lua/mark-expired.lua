#!lua flags=allow-oom
-- Records that retention deletes batches or stream of a finished experiment; from here on nobody reads them. Reports,
-- metrics and the index of batches go with the stream, but for the batches that are kept.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 'batches' or 'streams', then the batches that are kept, as their reader found them
-- Returns   'marked' | 'changed': others are kept | 'waiting': not archived | 'gone'
-- include time

-- What goes with the stream, behind the name of the record.
local STREAM_KEYS = { 'series', 'series:names', 'series:open', 'lines', 'lines:sums' }

-- Empties a hash but for these fields, in a time that does not grow with the others.
local function keepOnly(key, fields)
  local values = #fields > 0 and redis.call('HMGET', key, unpack(fields)) or {}
  redis.call('UNLINK', key)
  for i, field in ipairs(fields) do
    if values[i] then redis.call('HSET', key, field, values[i]) end
  end
end

local root, id, stage = KEYS[1], ARGV[1], ARGV[2]
local x = root .. ':x:' .. id
local record = redis.call('HMGET', x, 'state', 'archived', 'endedAt')
if not record[1] then return 'gone' end
if not record[2] or not record[3] then return 'waiting' end
local kept = {}
for at = 3, #ARGV do kept[ARGV[at]] = true end
local members = redis.call('SMEMBERS', x .. ':kept')
if #members ~= #ARGV - 2 then return 'changed' end
for _, member in ipairs(members) do
  if not kept[member] then return 'changed' end
end

redis.call('HSETNX', x, 'batchesExpired', int(nowMs()))
redis.call('HDEL', x, 'partBytes', 'longBytes')
if stage == 'batches' then return 'marked' end
redis.call('HSETNX', x, 'streamExpired', int(nowMs()))
redis.call('HDEL', x, 'segments', 'eventBytes', 'seriesDigest')
keepOnly(x .. ':batches', members)
keepOnly(x .. ':reports', members)
for _, name in ipairs(STREAM_KEYS) do redis.call('UNLINK', x .. ':' .. name) end
return 'marked'
