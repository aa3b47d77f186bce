#!lua flags=no-writes
-- Reads the events that rules evaluate, from the cursor of the rules on: metrics, batches, checkpoints, gaps, reports.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 MAX entries of the stream to read
-- Returns   {cursor, memory (JSON) or '', resolved spec (JSON) or '', sweep or '', index in it or '', state or '',
--           id of the last entry that was read (the cursor if there was none), '1' if there may be more entries, else '',
--           for a child of a sweep the shared documents (JSON) and its patch, else '' and '',
--           for each such event: {id, at, event (JSON), values or ''}, names of metrics as read.lua returns them}
-- include entries

local SIGNALS = { metrics = true, batch = true, checkpoint = true, gap = true, verification = true }
local x = KEYS[1] .. ':x:' .. ARGV[1]
local rules = redis.call('HMGET', x .. ':rules', 'cursor', 'memory')
local record = redis.call('HMGET', x, 'resolved', 'sweep', 'sweepIndex', 'state', 'patch')
local cursor = rules[1] or ''
local shared = record[5] and redis.call('GET', KEYS[1] .. ':sweep:' .. record[2] .. ':shared')
local from = cursor == '' and '-' or ('(' .. cursor)
local last, answer, names = cursor, {}, {}
local more = readEntries('XRANGE', x .. ':events', from, tonumber(ARGV[2]), function(id, fields)
  last = id
  if not SIGNALS[fields[2]] then return end
  local values = fields[7] == 'm' and fields[8]
  if values and #names == 0 then names = redis.call('HGETALL', x .. ':series:names') end
  answer[#answer + 1] = { id, fields[4], fields[6], values or '' }
end)
return { cursor, rules[2] or '', record[1] or '', record[2] or '', record[3] or '', record[4] or '', last,
  more and '1' or '', shared or '', record[5] or '', answer, names }
