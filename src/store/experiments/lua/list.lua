#!lua flags=no-writes
-- Lists the newest experiments of some indexes that match a filter. The number of examined records is bounded.
--
-- KEYS[1]   root of all keys
-- ARGV[1]   table (JSON): below (before this arrival, or '+inf'), wanted (number of experiments), effort (MAX records to
--           examine), indexes (names of disjoint indexes, without the root), and the filters, each of which may be absent:
--           states (',a,b,'), sweep, namePrefix, from (submitted at this time or later, ms), before (submitted before it),
--           project, idPrefix, counter (a field that is not 0), wrong (the training signal is wrong), fingerprintPrefix, search (lower case, in id, name, note or
--           tags), tag; and sortBy: a key ('' or ':metrics') and its fields, whose values are wanted
-- Returns   {arrival before which the next call continues, or '' at the end; id, arrival and values of sortBy of each,
--           newest first}
--
-- Arrivals rise with the time of submission, so a binary search in the index of all finds a time. A clock that was set
-- back in between can hide a record from a filter by time, never from the list.

local root = KEYS[1]
local query = cjson.decode(ARGV[1])
local below, wanted, indexes = query.below, query.wanted, query.indexes
local from, before, idPrefix = query.from, query.before, query.idPrefix
local everything = not (query.states or query.sweep or query.namePrefix or query.project or idPrefix or query.counter or query.wrong
  or query.fingerprintPrefix or query.search or query.tag or from or before)
-- Entries to read at once: one more than wanted if every record matches. The indexes share the number.
local CHUNK = math.max(20, math.ceil((everything and wanted + 1 or 200) / #indexes))

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

local function hasPrefix(text, prefix) return not prefix or string.sub(text, 1, #prefix) == prefix end

local function has(text, part) return string.find(text or '', part, 1, true) ~= nil end

-- Whether a user's words are in one of the texts that a list shows.
local function isFound(id, name)
  local texts = redis.call('HMGET', root .. ':x:' .. id, 'note', 'tags')
  if query.tag and not has('\n' .. (texts[2] or '') .. '\n', '\n' .. query.tag .. '\n') then return false end
  if not query.search then return true end
  return has(string.lower(table.concat({ id, name or '', texts[1] or '', texts[2] or '' }, '\n')), query.search)
end

-- As signalOf in packages/echelon-verify/src/report/training-signal.ts.
local function isWrong(id)
  local counts = redis.call('HMGET', root .. ':x:' .. id, 'vWrong', 'vErrors', 'vUnreadable')
  return tonumber(counts[1] or '0') > 0 or tonumber(counts[2] or '0') > tonumber(counts[3] or '0')
end

local function matches(id)
  if everything then return true end
  local record = redis.call('HMGET', root .. ':x:' .. id, 'state', 'sweep', 'name', 'submittedAt', 'project')
  if not record[1] then return false end
  if query.states and not string.find(query.states, ',' .. record[1] .. ',', 1, true) then return false end
  if query.sweep and record[2] ~= query.sweep then return false end
  if query.project and record[5] ~= query.project then return false end
  if not hasPrefix(record[3] or '', query.namePrefix) then return false end
  if query.counter and (redis.call('HGET', root .. ':x:' .. id, query.counter) or '0') == '0' then return false end
  if query.wrong and not isWrong(id) then return false end
  if query.fingerprintPrefix
    and not hasPrefix(redis.call('HGET', root .. ':x:' .. id, 'fingerprint') or '', query.fingerprintPrefix) then
    return false
  end
  if (query.search or query.tag) and not isFound(id, record[3]) then return false end
  local at = tonumber(record[4] or '0')
  return not (from and at < from) and not (before and at >= before)
end

-- The next entries of all indexes together, newest first. Entries older than the end of an index that was cut are read
-- again next time: the cut index may have newer ones.
local function nextEntries()
  local entries, cut = {}, nil
  for _, index in ipairs(indexes) do
    local found = redis.call('ZREVRANGEBYSCORE', root .. ':' .. index, below == '+inf' and below or '(' .. below,
      bottom, 'WITHSCORES', 'LIMIT', 0, CHUNK)
    for i = 1, #found, 2 do entries[#entries + 1] = { id = found[i], text = found[i + 1], arrival = tonumber(found[i + 1]) } end
    if #found == 2 * CHUNK then cut = math.max(cut or 0, tonumber(found[#found])) end
  end
  table.sort(entries, function(left, right) return left.arrival > right.arrival end)
  while cut and #entries > 0 and entries[#entries].arrival < cut do table.remove(entries) end
  return entries
end

local answer, examined, last = { '' }, 0, below
local listed, lastListed = 0, nil
while true do
  local entries = nextEntries()
  if #entries == 0 then return answer end
  for _, entry in ipairs(entries) do
    if examined >= query.effort then
      answer[1] = last
      return answer
    end
    -- Comparing an id costs a twentieth of reading a record.
    local isRead = hasPrefix(entry.id, idPrefix)
    examined = examined + (isRead and idPrefix and 20 or 1)
    if isRead and matches(entry.id) then
      if listed >= wanted then
        answer[1] = lastListed
        return answer
      end
      listed, lastListed = listed + 1, entry.text
      answer[#answer + 1] = entry.id
      answer[#answer + 1] = entry.text
      if query.sortBy then
        local values = redis.call('HMGET', root .. ':x:' .. entry.id .. query.sortBy[1], unpack(query.sortBy, 2))
        for _, value in ipairs(values) do answer[#answer + 1] = value or '' end
      end
    end
    last = entry.text
  end
  below = last
end
