#!lua flags=no-writes
-- Lists the newest experiments of some indexes that match a filter. The number of examined records is bounded.
--
-- KEYS[1]   root of all keys
-- ARGV      1 before this arrival, or '+inf', 2 number of wanted experiments, 3 MAX records to examine,
--           4 states (',a,b,') or '', 5 sweep or '', 6 prefix of the name or '',
--           7 submitted at this time or later (ms) or '', 8 submitted before this time (ms) or '', 9 project or '',
--           10 prefix of the id or '', 11 field of a counter that is not 0 or '', 12 prefix of the fingerprint or '',
--           then the names of disjoint indexes, without the root
-- Returns   {arrival before which the next call continues, or '' at the end; id and arrival of each, newest first}
--
-- Arrivals rise with the time of submission, so a binary search in the index of all finds a time. A clock that was set
-- back in between can hide a record from a filter by time, never from the list.

local root = KEYS[1]
local below, wanted, effort = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local states, sweep, prefix, project = ARGV[4], ARGV[5], ARGV[6], ARGV[9]
local from, before, idPrefix = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[10]
local counter, estimator = ARGV[11], ARGV[12]
local everything = states .. sweep .. prefix .. project .. idPrefix .. counter .. estimator == '' and not from and not before
-- Entries to read at once: one more than wanted if every record matches. The indexes share the number.
local CHUNK = math.max(20, math.ceil((everything and wanted + 1 or 200) / (#ARGV - 12)))

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

local function hasPrefix(id) return string.sub(id, 1, #idPrefix) == idPrefix end

local function matches(id)
  if everything then return true end
  local record = redis.call('HMGET', root .. ':x:' .. id, 'state', 'sweep', 'name', 'submittedAt', 'project')
  if not record[1] then return false end
  if states ~= '' and not string.find(states, ',' .. record[1] .. ',', 1, true) then return false end
  if sweep ~= '' and record[2] ~= sweep then return false end
  if project ~= '' and record[5] ~= project then return false end
  if prefix ~= '' and string.sub(record[3] or '', 1, #prefix) ~= prefix then return false end
  if counter ~= '' and (redis.call('HGET', root .. ':x:' .. id, counter) or '0') == '0' then return false end
  if estimator ~= '' then
    local fingerprint = redis.call('HGET', root .. ':x:' .. id, 'fingerprint') or ''
    if string.sub(fingerprint, 1, #estimator) ~= estimator then return false end
  end
  local at = tonumber(record[4] or '0')
  return not (from and at < from) and not (before and at >= before)
end

-- The next entries of all indexes together, newest first. Entries older than the end of an index that was cut are read
-- again next time: the cut index may have newer ones.
local function nextEntries()
  local entries, cut = {}, nil
  for at = 13, #ARGV do
    local found = redis.call('ZREVRANGEBYSCORE', root .. ':' .. ARGV[at], below == '+inf' and below or '(' .. below,
      bottom, 'WITHSCORES', 'LIMIT', 0, CHUNK)
    for i = 1, #found, 2 do entries[#entries + 1] = { id = found[i], text = found[i + 1], arrival = tonumber(found[i + 1]) } end
    if #found == 2 * CHUNK then cut = math.max(cut or 0, tonumber(found[#found])) end
  end
  table.sort(entries, function(left, right) return left.arrival > right.arrival end)
  while cut and #entries > 0 and entries[#entries].arrival < cut do table.remove(entries) end
  return entries
end

local answer, examined, last = { '' }, 0, below
while true do
  local entries = nextEntries()
  if #entries == 0 then return answer end
  for _, entry in ipairs(entries) do
    if examined >= effort then
      answer[1] = last
      return answer
    end
    -- Comparing an id costs a twentieth of reading a record.
    local isRead = hasPrefix(entry.id)
    examined = examined + (isRead and idPrefix ~= '' and 20 or 1)
    if isRead and matches(entry.id) then
      if #answer > 2 * wanted then
        answer[1] = answer[#answer]
        return answer
      end
      answer[#answer + 1] = entry.id
      answer[#answer + 1] = entry.text
    end
    last = entry.text
  end
  below = last
end
