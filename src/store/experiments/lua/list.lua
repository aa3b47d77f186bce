#!lua flags=no-writes
-- The newest experiments of some indexes that fit a filter; looks at a bounded number of them.
--
-- KEYS[1]   root of all keys
-- ARGV      1 below this arrival, or '+inf', 2 how many are wanted, 3 how many are looked at, at most,
--           4 states (',a,b,') or '', 5 sweep or '', 6 what the name begins with, or '',
--           7 submitted at this time or later (ms) or '', 8 submitted before this time (ms) or '', 9 project or '',
--           10 what the id begins with, or '', then the names of the indexes, without the root; together they hold no experiment twice
-- Returns   {where to go on below, or '' after the last one; id, arrival of each, newest first}
--
-- Arrivals rise with the time of submission, so a time is found in the index of all by halving; a clock that was set
-- back in between can hide a record from a filter by time, never from the list.

local root = KEYS[1]
local below, wanted, effort = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local states, sweep, prefix, project = ARGV[4], ARGV[5], ARGV[6], ARGV[9]
local from, before, idPrefix = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[10]
local everything = states .. sweep .. prefix .. project .. idPrefix == '' and not from and not before
-- Read at once: what is wanted and one more, where each one fits. Shared among the indexes: mostly they hold newer and
-- older ones alike, and what is read beyond the chunk is read again.
local CHUNK = math.max(20, math.ceil((everything and wanted + 1 or 200) / (#ARGV - 10)))

-- The arrival of the first experiment that was submitted at `time` or later; nil: there is none.
local function arrivalAt(time)
  local all = root .. ':all'
  local low, high, found = 0, redis.call('ZCARD', all) - 1, nil
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local item = redis.call('ZRANGE', all, middle, middle, 'WITHSCORES')
    if tonumber(redis.call('HGET', root .. ':x:' .. item[1], 'submittedAt') or '0') >= time then
      found, high = tonumber(item[2]), middle - 1
    else
      low = middle + 1
    end
  end
  return found
end

local bottom = '-inf'
if from then
  local arrival = arrivalAt(from)
  if not arrival then return { '' } end
  bottom = string.format('%.0f', arrival)
end
if before then
  local arrival = arrivalAt(before)
  if arrival and (below == '+inf' or arrival < tonumber(below)) then below = string.format('%.0f', arrival) end
end

local function beginsSo(id) return string.sub(id, 1, #idPrefix) == idPrefix end

local function fits(id)
  if everything then return true end
  local record = redis.call('HMGET', root .. ':x:' .. id, 'state', 'sweep', 'name', 'submittedAt', 'project')
  if not record[1] then return false end
  if states ~= '' and not string.find(states, ',' .. record[1] .. ',', 1, true) then return false end
  if sweep ~= '' and record[2] ~= sweep then return false end
  if project ~= '' and record[5] ~= project then return false end
  if prefix ~= '' and string.sub(record[3] or '', 1, #prefix) ~= prefix then return false end
  local at = tonumber(record[4] or '0')
  return not (from and at < from) and not (before and at >= before)
end

-- The next ones of all indexes together, newest first. What lies below the end of an index that was cut is left for
-- the next time: another index may have newer ones there.
local function nextOnes()
  local ones, cut = {}, nil
  for at = 11, #ARGV do
    local found = redis.call('ZREVRANGEBYSCORE', root .. ':' .. ARGV[at], below == '+inf' and below or '(' .. below,
      bottom, 'WITHSCORES', 'LIMIT', 0, CHUNK)
    for i = 1, #found, 2 do ones[#ones + 1] = { id = found[i], text = found[i + 1], arrival = tonumber(found[i + 1]) } end
    if #found == 2 * CHUNK then cut = math.max(cut or 0, tonumber(found[#found])) end
  end
  table.sort(ones, function(left, right) return left.arrival > right.arrival end)
  while cut and #ones > 0 and ones[#ones].arrival < cut do table.remove(ones) end
  return ones
end

local answer, looked, last = { '' }, 0, below
while true do
  local ones = nextOnes()
  if #ones == 0 then return answer end
  for _, one in ipairs(ones) do
    if looked >= effort then
      answer[1] = last
      return answer
    end
    -- An id alone costs a twentieth of a record.
    local isRead = beginsSo(one.id)
    looked = looked + (isRead and idPrefix ~= '' and 20 or 1)
    if isRead and fits(one.id) then
      if #answer > 2 * wanted then
        answer[1] = answer[#answer]
        return answer
      end
      answer[#answer + 1] = one.id
      answer[#answer + 1] = one.text
    end
    last = one.text
  end
  below = last
end
