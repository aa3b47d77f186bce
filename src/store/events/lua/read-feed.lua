#!lua flags=no-writes
-- Reads a feed after an entry (see redis/lua/feed.lua).
--
-- KEYS[1]   root of all keys
-- ARGV      1 feed, 2 number of the entry, 3 limit
-- Returns   {'ok', number of the newest, for each entry: {number, project, experiment, name, sweep, at, event}}
-- Errors    {'ahead', number of the newest}: the feed has no such number yet;
--           {'trimmed', number of the oldest}: the next entry was deleted
-- include time

local root, feed, after = KEYS[1], ARGV[1], tonumber(ARGV[2])
local newest = tonumber(redis.call('HGET', root .. ':feeds', feed) or '0')
if after > newest then return { 'ahead', int(newest) } end
local answer = { 'ok', int(newest) }
if after == newest then return answer end
local entries = redis.call('XRANGE', root .. ':feed:' .. feed, '(' .. ARGV[2] .. '-0', '+', 'COUNT', ARGV[3])
for i, entry in ipairs(entries) do
  local number, fields = string.match(entry[1], '^%d+'), entry[2]
  if i == 1 and tonumber(number) ~= after + 1 then return { 'trimmed', number } end
  answer[i + 2] = { number, fields[2], fields[4], fields[6], fields[8], fields[10], fields[12] }
end
if #entries == 0 then return { 'trimmed', int(newest + 1) } end
return answer
