#!lua flags=no-writes
-- A page of the line. Projects take turns as the last choice found it; the own ones of each come in the order of the line.
-- Where more projects wait than are to be told apart, or their lines do not agree with the whole, the page is in the order
-- of the line. Reads a few more records than it shows, however long the line is.
--
-- KEYS[1]   root of all keys
-- ARGV      1 how many, 2 the project whose line it is, or '': of all, 3 projects that take turns at most,
--           4 the score behind which the page begins, or '-inf', then project and the score behind which its own begin
-- Returns   {how many wait, 1 where more come behind the page, else 0,
--           {the score behind which the next page begins, then project and score as in ARGV}, {id, place, ...}}

local root, wanted, own, most, behind = KEYS[1], tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4]
local line, length, shown = root .. ':line', redis.call('ZCARD', root .. ':line'), {}
for i = 5, #ARGV, 2 do shown[ARGV[i]] = ARGV[i + 1] end
local projects = own ~= '' and { own } or redis.call('SMEMBERS', root .. ':lines')
table.sort(projects)

local function lineOf(project) return line .. ':' .. project end

local function takeTurns()
  if own ~= '' then return true end
  if #projects > most then return false end
  local counted = 0
  for _, project in ipairs(projects) do counted = counted + redis.call('ZCARD', lineOf(project)) end
  return counted == length
end

-- In the order of the line. Where turns were taken before, one project at least has shown nothing: all is shown again.
local function inLine()
  local from = behind
  local found = redis.call('ZRANGEBYSCORE', line, '(' .. from, '+inf', 'WITHSCORES', 'LIMIT', 0, wanted + 1)
  local place, items = redis.call('ZCOUNT', line, '-inf', from), {}
  for i = 1, math.min(#found, 2 * wanted), 2 do
    place = place + 1
    items[#items + 1], items[#items + 2], from = found[i], place, found[i + 1]
  end
  return { length, #found > 2 * wanted and 1 or 0, { from }, items }
end

local CHUNK = math.min(wanted + 1, math.max(10, math.ceil(2 * wanted / #projects)))

-- The first of a queue, or nil. One without a place, which has come or moved since the last choice, stands before those of
-- its project that have one, and behind all others where none has.
local function firstOf(queue)
  if queue.at > #queue.items then
    if queue.ended then return nil end
    local found = redis.call('ZRANGEBYSCORE', lineOf(queue.project), '(' .. queue.last, '+inf', 'WITHSCORES', 'LIMIT', 0,
      CHUNK)
    queue.items, queue.at, queue.ended = {}, 1, #found < 2 * CHUNK
    local turn = math.huge
    for i = #found - 1, 1, -2 do
      turn = math.min(turn, tonumber(redis.call('HGET', root .. ':x:' .. found[i], 'waitRank') or '') or math.huge)
      queue.items[(i + 1) / 2] = { id = found[i], score = found[i + 1], turn = turn }
    end
  end
  return queue.items[queue.at]
end

local function comesBefore(one, other)
  if one.turn ~= other.turn then return one.turn < other.turn end
  return tonumber(one.score) < tonumber(other.score)
end

local function inTurns()
  local queues, place, items = {}, 0, {}
  for at, project in ipairs(projects) do
    local last = shown[project] or behind
    queues[at] = { project = project, last = last, items = {}, at = 1, ended = false }
    if last ~= '-inf' then place = place + redis.call('ZCOUNT', lineOf(project), '-inf', last) end
  end
  local function nextQueue()
    local best, first
    for _, queue in ipairs(queues) do
      local one = firstOf(queue)
      if one and (not first or comesBefore(one, first)) then best, first = queue, one end
    end
    return best, first
  end
  for _ = 1, wanted do
    local queue, one = nextQueue()
    if not queue then break end
    queue.at, queue.last, place = queue.at + 1, one.score, place + 1
    items[#items + 1] = one.id
    items[#items + 1] = own ~= '' and (redis.call('ZRANK', line, one.id) or place - 1) + 1 or place
  end
  local goesOn = { behind }
  for _, queue in ipairs(queues) do
    if queue.last ~= behind then
      goesOn[#goesOn + 1], goesOn[#goesOn + 2] = queue.project, queue.last
    end
  end
  return { length, nextQueue() and 1 or 0, goesOn, items }
end

return takeTurns() and inTurns() or inLine()
