#!lua flags=no-writes
-- Reads entries of an experiment's stream without the bytes of batch parts.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 first id (as XRANGE takes it; ignored backwards), 3 limit,
--           4 'forwards' or 'backwards' (the newest, newest first)
-- Returns   {index of the archived segments or '', for each entry of the stream: {id, at, event (JSON), values or ''},
--           and where there are such values the names of metrics and their numbers in turn}

local x = KEYS[1] .. ':x:' .. ARGV[1]
local key = x .. ':events'
local entries
if ARGV[4] == 'backwards' then
  entries = redis.call('XREVRANGE', key, '+', '-', 'COUNT', ARGV[3])
else
  entries = redis.call('XRANGE', key, ARGV[2], '+', 'COUNT', ARGV[3])
end
local answer, names = {}, {}
for i, entry in ipairs(entries) do
  local fields = entry[2]
  local values = fields[7] == 'm' and fields[8]
  if values and #names == 0 then names = redis.call('HGETALL', x .. ':series:names') end
  answer[i] = { entry[1], fields[4], fields[6], values or '' }
end
return { redis.call('HGET', x, 'segments') or '', answer, names }
