-- The series of an experiment's metrics: here the newest values, as rows. A dispatcher compacts them into blocks, which only
-- `metrics/series-pyramid.ts` writes and reads.
--
-- {x}:series:names  hash: number of a metric (from 0) by its name
-- {x}:series:rows   string: events that are not compacted yet: attempt (4), step (4), values (2), then for each: metric (2),
--                   value (8); little-endian. The last value is the time of the event (ms), as metric 65535.
-- {x}:series        hash: attempts   `attempt:first step` of each attempt, separated by spaces
--                         revision   number of compactions
--                         and the fields of the compacted values
-- {root}:series-due set: experiments whose rows are to be compacted
-- Rows of this many bytes are compacted, and of this many for each metric: each compaction rewrites a block of every metric.
local MIN_BYTES, BYTES_OF_METRIC = 16384, 320

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

-- A row with the numbers of its metrics. row: for each value the index of its name (2 bytes, from 0) and the value (8
-- bytes). Values above the cap are omitted. Returns the parts; the first is empty.
local function numberedRow(row, numbered)
  local parts = { '' }
  for at = 1, #row, 10 do
    local low, high = string.byte(row, at, at + 1)
    local number = numbered[low + 256 * high + 1]
    if number then parts[#parts + 1] = number .. string.sub(row, at + 2, at + 9) end
  end
  return parts
end

-- The rows of this call, and the step of the first one.
local rows, firstStep = {}, nil

-- Records the values of one event, as numberedRow returns them, and its time.
local function recordValues(attempt, step, parts, time)
  if #parts == 1 then return end
  parts[#parts + 1] = struct.pack('<I2d', 65535, tonumber(time))
  parts[1] = struct.pack('<I4I4I2', tonumber(attempt), tonumber(step), #parts - 1)
  rows[#rows + 1] = table.concat(parts)
  firstStep = firstStep or step
end

-- Writes the values of recordValues; to be called before the end of the script.
local function writeSeries(root, id, attempt)
  if #rows == 0 then return end
  local key = root .. ':x:' .. id .. ':series'
  local attempts = redis.call('HGET', key, 'attempts')
  if not attempts or string.match(attempts, '(%d+):%S+$') ~= attempt then
    redis.call('HSET', key, 'attempts', (attempts and attempts .. ' ' or '') .. attempt .. ':' .. firstStep)
  end
  local due = math.max(MIN_BYTES, BYTES_OF_METRIC * redis.call('HLEN', key .. ':names'))
  if redis.call('APPEND', key .. ':rows', table.concat(rows)) >= due then
    redis.call('SADD', root .. ':series-due', id)
  end
end
