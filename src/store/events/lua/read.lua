#!lua flags=no-writes
-- Reads entries of an experiment's stream without the bytes of batch parts.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 first id (as XRANGE and XREVRANGE take it), 3 limit,
--           4 'forwards' or 'backwards' (newest first)
-- Returns   {index of the archived segments or '', for each entry of the stream: {id, at, event (JSON), values or ''},
--           names of metrics and their numbers in turn if an entry has values,
--           '1' if there may be more entries, even when these are fewer than the limit; else ''}
-- include entries

local x = KEYS[1] .. ':x:' .. ARGV[1]
local command = ARGV[4] == 'backwards' and 'XREVRANGE' or 'XRANGE'
local answer, names = {}, {}
local more = readEntries(command, x .. ':events', ARGV[2], tonumber(ARGV[3]), function(id, fields)
  local values = fields[7] == 'm' and fields[8]
  if values and #names == 0 then names = redis.call('HGETALL', x .. ':series:names') end
  answer[#answer + 1] = { id, fields[4], fields[6], values or '' }
end)
return { redis.call('HGET', x, 'segments') or '', answer, names, more and '1' or '' }
