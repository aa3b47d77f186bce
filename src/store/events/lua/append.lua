#!lua
-- Appends consecutive events of an attempt, all or none. Events that are already recorded are ignored. The others enter the
-- stream under attempt-(n * 2^20) and change the record.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 attempt, 3 token, 4 number of the first event, 5 how many events, 6 cap of metric names,
--           7 MAX bytes of the live stream, 8 how many names of metrics follow, and these; then for each event: at, type, event (JSON),
--           'b' (bytes), 'k' (archive digest) or '', bytes or digest or '', how many arguments of its effect follow,
--           and these:
--             stage       name, step, steps
--             metrics     step, '1' if step and values are complete here, values (as numberedRow of
--                         redis/lua/series.lua takes them), then for each metric without a later value in the call:
--                         name and value (JSON) in turn
--             batch       batch, index, count, step, rows, digest
--             checkpoint  checkpoint (JSON), artifact (JSON), directory that other experiments may read or ''
--             stored      step and digest of the manifest (JSON)
--             evaluation  its place (JSON)
--             log         lines, bytes
--             gap         dropped rows (of batches), or lines and bytes (of logs)
-- Returns   {'ok', last recorded number, bytes of the live stream}
-- Errors    {'lost'}; {'gap', last recorded number}; {'long'}: the live stream has so many bytes already
-- Events    the given ones, a checkpoint also in the feed of its project; PUBLISH to followers, and wake 'batch' if a batch was completed
-- include time
-- include state
-- include pace
-- include series
-- include lines
-- include pending

local root, id, attempt = KEYS[1], ARGV[1], ARGV[2]
local x = root .. ':x:' .. id
if not holds(x, attempt, ARGV[3]) then return { 'lost' } end
local attempts = x .. ':attempts'
local last = tonumber(redis.call('HGET', attempts, attempt .. ':last') or '0')
local first, count = tonumber(ARGV[4]), tonumber(ARGV[5])
if first > last + 1 then return { 'gap', int(last) } end
if first + count - 1 <= last then return { 'ok', int(last), '0' } end

local record = redis.call('HMGET', x, 'step', 'open', 'batchAt', 'gpus', 'project', 'streamBytes', 'name', 'sweep')
local project, streamBytes, streamed, grown = record[5], tonumber(record[6] or '0'), 0, 0
if streamBytes >= tonumber(ARGV[7]) then return { 'long' } end
local paced
local batchAt = record[3] -- attempt, and when its last batch was complete (ms)
local step, open, completed = tonumber(record[1] or '0'), record[2], 0
local changes = {}
local function set(field, value)
  changes[#changes + 1] = field
  changes[#changes + 1] = value
end

local names = {}
for i = 1, tonumber(ARGV[8]) do names[i] = ARGV[8 + i] end
local numbered

local function metrics(at, size, row)
  if tonumber(ARGV[at]) > step then
    step = tonumber(ARGV[at])
    set('step', ARGV[at])
  end
  local key, cap = x .. ':metrics', tonumber(ARGV[6])
  recordValues(attempt, ARGV[at], row, ARGV[at - 6])
  grown = grown + 10 * #row
  local known = redis.call('HLEN', key)
  for i = at + 3, at + size - 1, 2 do
    if known < cap or redis.call('HEXISTS', key, ARGV[i]) == 1 then
      known = known + redis.call('HSET', key, ARGV[i], ARGV[i + 1])
    end
  end
end

-- GPU milliseconds of a batch: since the previous batch of the attempt, or since the confirmed launch.
local function spent(time)
  local was, before = string.match(batchAt or '', '^(%S+) (%S+)$')
  if was ~= attempt then before = redis.call('HGET', attempts, attempt .. ':confirmedAt') end
  batchAt = attempt .. ' ' .. int(time)
  set('batchAt', batchAt)
  return int(math.max(0, time - (before or time)) * tonumber(record[4] or '0'))
end

-- The parts of one batch are consecutive among batch parts; `open`: batch, next index, parts so far, first entry.
local function batch(at, entry)
  if tonumber(ARGV[at + 3]) > step then
    step = tonumber(ARGV[at + 3])
    set('step', ARGV[at + 3])
  end
  local number, index = ARGV[at], tonumber(ARGV[at + 1])
  local parts, start = 1, entry
  if open then
    local was, nextIndex, sofar, begun = string.match(open, '^(%S+) (%S+) (%S+) (%S+)$')
    if was == number and tonumber(nextIndex) == index then parts, start = sofar + 1, begun end
  end
  if parts < tonumber(ARGV[at + 2]) then
    open = table.concat({ number, int(index + 1), int(parts), start }, ' ')
    return
  end
  open = false
  local field = attempt .. ':' .. number
  local gpuMs = spent(tonumber(ARGV[at - 6]))
  local row = table.concat({ ARGV[at + 3], ARGV[at + 4], ARGV[at + 5], start, entry, gpuMs }, ' ')
  if redis.call('HSETNX', x .. ':batches', field, row) == 1 then
    addPending(root, project, id .. ':' .. field)
    redis.call('HINCRBY', x, 'vBatches', 1)
    redis.call('HINCRBY', x, 'vSeen', ARGV[at + 4])
    completed = completed + 1
    grown = grown + #field + #row
  end
end

-- Above this number the oldest are deleted.
local MAX_ARTIFACTS = 10000
-- Older checkpoints of an object store are not downloaded any more.
local MAX_STORED = 20
local function artifact(json, list, most)
  redis.call('RPUSH', x .. (list or ':artifacts'), json)
  grown = grown + #json
  redis.call('LTRIM', x .. (list or ':artifacts'), -(most or MAX_ARTIFACTS), -1)
end

-- Measures a step from its start to the start of the next, within an attempt. `pace`: attempt, step and its start (ms),
-- then the summary of durations.
local function tick(number, time)
  if number < 1 or not time then return end
  local pace = paced or redis.call('HGET', x, 'pace') or ''
  local was, before, began, lengths = string.match(pace, '^(%S+) (%S+) (%S+) ?(.*)$')
  if was == attempt and number <= tonumber(before) then return end
  if was == attempt and time >= tonumber(began) then
    lengths = withMeasurement(lengths, (time - began) / (number - before))
  end
  paced = table.concat({ attempt, int(number), int(time), lengths or '' }, ' ')
end

local function effect(kind, at, size, event, entry, n, row)
  if kind == 'stage' then
    tick(tonumber(ARGV[at + 1]), tonumber(ARGV[at - 6]))
    step = tonumber(ARGV[at + 1])
    set('stage', ARGV[at])
    set('step', ARGV[at + 1])
    set('steps', ARGV[at + 2])
  elseif kind == 'metrics' then
    metrics(at, size, row)
  elseif kind == 'batch' then
    batch(at, entry)
  elseif kind == 'checkpoint' then
    local cluster = redis.call('HGET', attempts, attempt .. ':cluster')
    set('checkpoint', ARGV[at])
    set('checkpointCluster', cluster or '')
    artifact(ARGV[at + 1])
    publishToProject(root, { project = project, experiment = id, name = record[7], sweep = record[8],
      at = tonumber(ARGV[at - 6]), event = event })
    if cluster and ARGV[at + 2] ~= '' then
      redis.call('SADD', root .. ':checkpoints', cluster .. ' ' .. ARGV[at + 2])
    end
  elseif kind == 'stored' then
    artifact(ARGV[at], ':stored', MAX_STORED)
  elseif kind == 'evaluation' then
    artifact(ARGV[at], ':evaluations')
  elseif kind == 'log' then
    countLines(x, attempt, n, entry, tonumber(ARGV[at]), tonumber(ARGV[at + 1]))
  elseif kind == 'gap' and size == 1 then
    redis.call('HINCRBY', x, 'vSeen', ARGV[at])
    redis.call('HINCRBY', x, 'vDropped', ARGV[at])
  elseif kind == 'gap' then
    countLines(x, attempt, n, entry, tonumber(ARGV[at]), tonumber(ARGV[at + 1]))
  elseif kind == 'ended' then
    redis.call('HSET', attempts, attempt .. ':ended', event)
  end
end

local at, signals = 9 + #names, false -- signals: rules may have to read an event
for n = first, first + count - 1 do
  local size = tonumber(ARGV[at + 5])
  if n > last then
    local entry = attempt .. '-' .. int(n * 1048576)
    local kind, event, payload = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
    local row
    if kind == 'metrics' then
      numbered = numbered or metricNumbers(x, names, tonumber(ARGV[6]))
      row = numberedRow(ARGV[at + 8], numbered)
    end
    if row and ARGV[at + 7] == '1' and #row > 1 and #row - 1 == #ARGV[at + 8] / 10 then
      -- All of its metrics have numbers: as bytes, the values take a tenth of their JSON.
      local short = '{"type":"metrics","step":' .. ARGV[at + 6] .. '}'
      streamed = streamed + addEntry(x, entry, 't', kind, 'a', ARGV[at], 'd', short, 'm', table.concat(row))
    elseif payload == '' then
      streamed = streamed + addEntry(x, entry, 't', kind, 'a', ARGV[at], 'd', event)
    else
      streamed = streamed + addEntry(x, entry, 't', kind, 'a', ARGV[at], 'd', event, payload, ARGV[at + 4])
    end
    effect(kind, at + 6, size, event, entry, n, row)
    if kind == 'metrics' or kind == 'checkpoint' or kind == 'gap' then signals = true end
  end
  at = at + 6 + size
end

writeSeries(root, id, attempt)
writeLines(x)
countStream(root, project, x, streamed)
countBytes(root, project, x, grown)
last = first + count - 1
redis.call('HSET', attempts, attempt .. ':last', int(last))
if open then set('open', open) elseif record[2] then redis.call('HDEL', x, 'open') end
if paced then set('pace', paced) end
if #changes > 0 then redis.call('HSET', x, unpack(changes)) end
redis.call('PUBLISH', x .. ':changed', 'events')
if completed > 0 then redis.call('PUBLISH', root .. ':wake', 'batch') end
if signals then redis.call('ZADD', root .. ':signals', 'NX', int(nowMs()), id) end
return { 'ok', int(last), int(streamBytes + streamed) }
