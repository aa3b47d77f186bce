#!lua flags=allow-oom
-- Empties the stream of a finished experiment whose entries are in the archive, unless it has new entries. The empty stream
-- remains: it has the last id, so that a later entry comes after the archived ones.
--
-- KEYS[1]   root of all keys
-- ARGV[1]   table (JSON): experiment, last (id of the last entry that was read, '' if the stream was empty), count (number of
--           entries read), index (of all archived segments), before (the index as read), eventBytes (of the entries in the
--           archive), partBytes (of batch parts in the entries), longBytes (of batch parts that the entries refer to)
-- Returns   'archived' | 'changed': read again | 'waiting': reports are missing, or it has not ended | 'gone': no such
--           experiment
-- include time
-- include measure

local read = cjson.decode(ARGV[1])
local root, id = KEYS[1], read.experiment
local x = root .. ':x:' .. id
local record = redis.call('HMGET', x, 'endedAt', 'vBatches', 'vVerified', 'segments', 'project', 'state')
if not record[6] then
  redis.call('ZREM', root .. ':archiving', id)
  return 'gone'
end
if not record[1] or (record[2] or '0') ~= (record[3] or '0') then return 'waiting' end
-- Rules have not read the whole stream yet.
if redis.call('ZSCORE', root .. ':signals', id) then return 'waiting' end
if (record[4] or '') ~= read.before then return 'changed' end
local events = x .. ':events'
local last = redis.call('XREVRANGE', events, '+', '-', 'COUNT', 1)[1]
if (last and last[1] or '') ~= read.last or redis.call('XLEN', events) ~= read.count then return 'changed' end
if read.last ~= '' then
  redis.call('HSET', x, 'segments', read.index, 'eventBytes', read.eventBytes, 'partBytes', read.partBytes)
  redis.call('HINCRBY', x, 'longBytes', read.longBytes)
  redis.call('XTRIM', events, 'MAXLEN', 0)
  redis.call('HSET', x, 'streamBytes', '0')
end
measureBytes(root, record[5], x)
redis.call('ZREM', root .. ':archiving', id)
if redis.call('HSETNX', x, 'archived', '1') == 1 then
  redis.call('ZADD', root .. ':due:batches:' .. record[5], record[1], id)
  redis.call('ZADD', root .. ':forgetting', record[1], id)
end
return 'archived'
