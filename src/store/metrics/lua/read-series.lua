#!lua flags=no-writes
-- Reads the series of some metrics in one attempt, at the finest level that keeps the answer small. The cost depends on the
-- resolution, not on the number of steps.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 attempt, 3 first step, 4 last step, 5 resolution, then numbers of metrics
-- Returns   {newest events (see redis/lua/series.lua) or '', for each metric: {level, block, …}}. Blocks of level 0 have
--           points, others aggregates. Blocks of lower levels follow for the points that the level does not cover yet
-- include time
-- include series

local x, attempt = KEYS[1] .. ':x:' .. ARGV[1], ARGV[2]
local from, to, resolution = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local key = x .. ':series'

local function firstStep(level, block)
  return (struct.unpack('<I4', block, level == 0 and 2 or 1))
end

local function lastStep(level, block)
  if level > 0 then return (struct.unpack('<I4', block, #block - AGGREGATE_BYTES + 5)) end
  if string.byte(block) == 0 then return (struct.unpack('<I4', block, 1 + (#block - 1) / 12 * 4 - 3)) end
  local first, stride = struct.unpack('<I4I4', block, 2)
  return first + stride * ((#block - 9) / 8 - 1)
end

-- The smallest n of [0, count) for which isAt(n) holds; count if there is none. isAt changes once, from false to true.
local function search(count, isAt)
  local low, high = 0, count
  while low < high do
    local middle = math.floor((low + high) / 2)
    if isAt(middle) then high = middle else low = middle + 1 end
  end
  return low
end

local function read(metric)
  local name = attempt .. ':' .. metric
  local head = numbers(redis.call('HGET', key, 'h' .. name) or '')
  if #head == 0 then return { 0 } end
  local function blockAt(level, n) return redis.call('HGET', key, 'b' .. name .. ':' .. level .. ':' .. int(n)) end
  local function blocksAt(level) return level == 0 and head[2] or math.ceil(head[level + 2] / BLOCK) end

  local level, low, high = 0
  while true do
    local count = blocksAt(level)
    low = search(count, function(n) return lastStep(level, blockAt(level, n)) >= from end)
    high = search(count, function(n) return firstStep(level, blockAt(level, n)) > to end)
    local items = (high - low) * (level == 0 and head[1] / head[2] or BLOCK)
    local max = (level == 0 and LEAF or FAN) * resolution + 2 * BLOCK
    if items <= max or not head[level + 3] then break end
    level = level + 1
  end
  local answer = { level }
  for n = low, high - 1 do answer[#answer + 1] = blockAt(level, n) end
  for below = level - 1, 1, -1 do
    local fill = head[below + 2] % BLOCK
    if fill > 0 then answer[#answer + 1] = blockAt(below, (head[below + 2] - fill) / BLOCK) end
  end
  return answer
end

local open = string.match(redis.call('HGET', key, 'open') or '', '^%S+')
local answer = { open == attempt and redis.call('GET', x .. ':series:open') or '' }
for i = 6, #ARGV do answer[#answer + 1] = read(ARGV[i]) end
return answer
