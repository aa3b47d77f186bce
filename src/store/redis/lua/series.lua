-- The series of an experiment's metrics: every point, and a pyramid of aggregates over the points. The cost of a chart
-- depends on its resolution, not on the number of steps. Needs time.
--
-- {x}:series:names  hash: number of a metric (from 0) by its name
-- {x}:series:open   string: the newest events: step (4), values (2), then for each: metric (2), value (8)
-- {x}:series        hash: attempts      `attempt:first step` of each attempt, separated by spaces
--                         open          `attempt events values` of the string above
--                         h<a>:<m>      head of metric m in attempt a, numbers of 4 bytes: points, blocks of points,
--                                       aggregates of level 1, of level 2, …
--                         b<a>:<m>:0:<n>  block of points: kind 1, first step (4), stride (4), values; or kind 0,
--                                       steps (4 each), values
--                         b<a>:<m>:<l>:<n>  block of at most BLOCK aggregates of level l
-- An aggregate of level 1 stands for up to LEAF points; a full block becomes BLOCK / FAN aggregates of the next level.
-- All numbers are little-endian.
local AGGREGATE, AGGREGATE_BYTES = '<I4I4dddddI4I4I4I4', 64
local LEAF, BLOCK, FAN = 32, 16, 4
local MAX_EVENTS, MAX_VALUES = 126, 8192
local byte, sub, huge = string.byte, string.sub, math.huge
local readStruct = struct.unpack

-- first and last step; first, last, smallest, largest, mean value; points, NaN, +inf, -inf among them
local function aggregatePoints(steps, values, i, j)
  local from, to, first, last = steps[i], steps[i]
  local n, nan, up, down, min, max, mean = 0, 0, 0, 0, 0, 0, 0
  for k = i, j do
    local step, value = steps[k], readStruct('<d', values[k])
    if step < from then from = step elseif step > to then to = step end
    if k == i then first = value end
    last = value
    if value > -huge and value < huge then
      n = n + 1
      if n == 1 then
        min, max, mean = value, value, value
      else
        if value < min then min = value elseif value > max then max = value end
        mean = mean + (value / n - mean / n)
      end
    elseif value ~= value then nan = nan + 1
    elseif value > 0 then up = up + 1
    else down = down + 1
    end
  end
  return struct.pack(AGGREGATE, from, to, first, last, min, max, mean, j - i + 1, nan, up, down)
end

-- Merges FAN consecutive aggregates in `block` from byte `at` on.
local function mergeAggregates(block, at)
  local from, to, first, last, min, max, mean, count, nan, up, down
    = struct.unpack(AGGREGATE, block, at)
  local n = count - nan - up - down
  for k = 1, FAN - 1 do
    local from2, to2, _, last2, min2, max2, mean2, count2, nan2, up2, down2
      = struct.unpack(AGGREGATE, block, at + k * AGGREGATE_BYTES)
    local n2 = count2 - nan2 - up2 - down2
    if from2 < from then from = from2 end
    if to2 > to then to = to2 end
    if n2 > 0 then
      if n == 0 or min2 < min then min = min2 end
      if n == 0 or max2 > max then max = max2 end
      local share = n2 / (n + n2)
      mean = mean + (mean2 * share - mean * share)
      n = n + n2
    end
    last, count, nan, up, down = last2, count + count2, nan + nan2, up + up2, down + down2
  end
  return struct.pack(AGGREGATE, from, to, first, last, min, max, mean, count, nan, up, down)
end

-- Adds aggregates to a level. Each full block adds its merged aggregates to the next level.
local function addAggregates(key, prefix, head, level, new)
  local count = head[level + 2] or 0
  local fill = count % BLOCK
  local block = fill > 0 and redis.call('HGET', key, prefix .. level .. ':' .. int((count - fill) / BLOCK)) or ''
  local upwards = {}
  for _, aggregate in ipairs(new) do
    block, count = block .. aggregate, count + 1
    if count % BLOCK == 0 then
      redis.call('HSET', key, prefix .. level .. ':' .. int(count / BLOCK - 1), block)
      for k = 0, BLOCK / FAN - 1 do
        upwards[#upwards + 1] = mergeAggregates(block, k * FAN * AGGREGATE_BYTES + 1)
      end
      block = ''
    end
  end
  if block ~= '' then
    redis.call('HSET', key, prefix .. level .. ':' .. int((count - count % BLOCK) / BLOCK), block)
  end
  head[level + 2] = count
  if #upwards > 0 then addAggregates(key, prefix, head, level + 1, upwards) end
end

local function pointBlock(steps, values)
  local stride = #steps > 1 and steps[2] - steps[1] or 1
  for k = 2, #steps do
    if stride < 0 or steps[k] - steps[k - 1] ~= stride then
      local packed = {}
      for i, step in ipairs(steps) do packed[i] = struct.pack('<I4', step) end
      return '\0' .. table.concat(packed) .. table.concat(values)
    end
  end
  return '\1' .. struct.pack('<I4I4', steps[1], stride) .. table.concat(values)
end

local function numbers(text)
  local all = {}
  for at = 1, #text, 4 do all[#all + 1] = struct.unpack('<I4', text, at) end
  return all
end

-- Turns the newest events into columns: a block of points and their aggregates for each metric.
local function closeSeries(x, attempt)
  local key, openKey = x .. ':series', x .. ':series:open'
  local open = redis.call('GET', openKey) or ''
  local columns, order, at = {}, {}, 1
  while at <= #open do
    local step, count = struct.unpack('<I4I2', open, at)
    at = at + 6
    for _ = 1, count do
      local low, high = byte(open, at, at + 1)
      local metric = low + 256 * high
      local column = columns[metric]
      if not column then
        column = { n = 0, steps = {}, values = {} }
        columns[metric], order[#order + 1] = column, metric
      end
      local n = column.n + 1
      column.n, column.steps[n], column.values[n] = n, step, sub(open, at + 2, at + 9)
      at = at + 10
    end
  end
  for _, metric in ipairs(order) do
    local steps, values = columns[metric].steps, columns[metric].values
    local name = attempt .. ':' .. int(metric)
    local head = numbers(redis.call('HGET', key, 'h' .. name) or '')
    local blocks = head[2] or 0
    redis.call('HSET', key, 'b' .. name .. ':0:' .. int(blocks), pointBlock(steps, values))
    head[1], head[2] = (head[1] or 0) + #steps, blocks + 1
    local leaves = {}
    for i = 1, #steps, LEAF do
      leaves[#leaves + 1] = aggregatePoints(steps, values, i, math.min(i + LEAF - 1, #steps))
    end
    addAggregates(key, 'b' .. name .. ':', head, 1, leaves)
    for i, number in ipairs(head) do head[i] = struct.pack('<I4', number) end
    redis.call('HSET', key, 'h' .. name, table.concat(head))
  end
  redis.call('DEL', openKey)
end

-- Numbers of metrics in the order of `names`, as two bytes each; false above the cap.
local function metricNumbers(x, names, cap)
  local key, numbered = x .. ':series:names', {}
  if #names == 0 then return numbered end
  local known = redis.call('HMGET', key, unpack(names))
  local next = redis.call('HLEN', key)
  for i, name in ipairs(names) do
    local number = known[i] and tonumber(known[i])
    if not number and next < cap then
      number, next = next, next + 1
      redis.call('HSET', key, name, int(number))
    end
    numbered[i] = number and struct.pack('<I2', number)
  end
  return numbered
end

-- What this call adds to the newest events: number of events and values, texts that are not written yet.
local tail

local function openTail(x, attempt, step)
  local key = x .. ':series'
  local of, events, values = string.match(redis.call('HGET', key, 'open') or '', '^(%S+) (%S+) (%S+)$')
  tail = { events = 0, values = 0, texts = {} }
  if of == attempt then
    tail.events, tail.values = tonumber(events), tonumber(values)
    return
  end
  if of and tonumber(events) > 0 then closeSeries(x, of) end
  local attempts, first = redis.call('HGET', key, 'attempts'), attempt .. ':' .. step
  redis.call('HSET', key, 'attempts', attempts and (attempts .. ' ' .. first) or first)
end

-- Writes the values of recordValues; to be called before the end of the script.
local function writeSeries(x, attempt)
  if not tail then return end
  if #tail.texts > 0 then
    redis.call('APPEND', x .. ':series:open', table.concat(tail.texts))
    tail.texts = {}
  end
  redis.call('HSET', x .. ':series', 'open', attempt .. ' ' .. int(tail.events) .. ' ' .. int(tail.values))
end

-- A row with the numbers of its metrics. row: for each value the index of its name (2 bytes, from 0) and the value (8
-- bytes). Values above the cap are omitted. Returns the parts; the first is empty.
local function numberedRow(row, numbered)
  local parts = { '' }
  for at = 1, #row, 10 do
    local low, high = byte(row, at, at + 1)
    local number = numbered[low + 256 * high + 1]
    if number then parts[#parts + 1] = number .. sub(row, at + 2, at + 9) end
  end
  return parts
end

-- Records the values of one event, as numberedRow returns them.
local function recordValues(x, attempt, step, parts)
  if #parts == 1 then return end
  if not tail then openTail(x, attempt, step) end
  parts[1] = struct.pack('<I4I2', tonumber(step), #parts - 1)
  tail.texts[#tail.texts + 1] = table.concat(parts)
  tail.events, tail.values = tail.events + 1, tail.values + #parts - 1
  if tail.events < MAX_EVENTS and tail.values < MAX_VALUES then return end
  writeSeries(x, attempt)
  closeSeries(x, attempt)
  tail.events, tail.values = 0, 0
end
