#!lua flags=allow-oom
-- Records that retention deletes the batches or the stream of a finished experiment; from then on they are not read.
-- Reports, metrics and the index of batches are deleted with the stream, except those of retained batches.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 'batches' or 'streams', then the retained batches, as the caller read them
-- Returns   'marked' | 'changed': other batches are retained | 'waiting': not archived, or a backup runs | 'gone': no such experiment
-- include time
-- include measure

-- Suffixes of the keys that are deleted with the stream.
local STREAM_KEYS = { 'series', 'series:names', 'series:rows', 'lines', 'lines:sums' }

-- Deletes all other fields of a hash, in a time that does not depend on their number.
local function keepOnly(key, fields)
  local values = #fields > 0 and redis.call('HMGET', key, unpack(fields)) or {}
  redis.call('UNLINK', key)
  for i, field in ipairs(fields) do
    if values[i] then redis.call('HSET', key, field, values[i]) end
  end
end

local root, id, stage = KEYS[1], ARGV[1], ARGV[2]
local x = root .. ':x:' .. id
local record = redis.call('HMGET', x, 'state', 'archived', 'endedAt', 'project')
if redis.call('EXISTS', root .. ':backup') == 1 then return 'waiting' end
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
measureBytes(root, record[4], x)
return 'marked'
