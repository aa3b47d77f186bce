-- Finds the attempt that crashes dispatchers. Needs time.
--
-- unsettled:<dispatcher>  set: experiments whose attempt the dispatcher is launching or taking over. An attempt is settled
--                         once the dispatcher has survived its first exchange about it with the ray-worker.
-- suspects                set: experiments that were unsettled when their dispatcher was lost. A dispatcher takes a
--                         suspect over alone, with no other unsettled attempt.
-- alone:<dispatcher>      exists while a dispatcher prepares for a suspect or has one: it acquires nothing meanwhile
-- crashes                 field of the record, JSON: [{"at", "attempt", "dispatcher", "during": "launch" | "takeover"}],
--                         one for each dispatcher in a row that was lost while only this attempt was unsettled
--
-- A settled attempt is never charged with a loss.

local function unsettledOf(root, dispatcher)
  return root .. ':unsettled:' .. dispatcher
end

-- The crashes of a record, and how many happened during `during`.
local function crashesOf(x, during)
  local crashes, count = cjson.decode(redis.call('HGET', x, 'crashes') or '[]'), 0
  for _, crash in ipairs(crashes) do
    if crash.during == during then count = count + 1 end
  end
  return crashes, count
end

-- Charges the attempt of `id` with the loss of a dispatcher. After `limit` crashes of a kind the experiment is in
-- quarantine. If launches led to it, the attempt is only taken over from then on.
local function charge(root, id, lost)
  local x = root .. ':x:' .. id
  local record = redis.call('HMGET', x, 'state', 'attempt', 'confirmed')
  local crashes, launches = crashesOf(x, 'launch')
  local launching = record[1] == 'launching' and not record[3] and launches < lost.limit
  local during = launching and 'launch' or 'takeover'
  crashes[#crashes + 1] = { at = lost.now, attempt = tonumber(record[2]), dispatcher = lost.dispatcher, during = during }
  redis.call('HSET', x, 'crashes', cjson.encode(crashes))
  local _, count = crashesOf(x, during)
  if count >= lost.limit then redis.call('HSET', x, 'quarantined', '1') end
end

-- Makes every unsettled attempt of a lost dispatcher a suspect, and charges it if it was the only one.
-- lost: dispatcher, now, limit
local function suspectUnsettled(root, lost)
  local unsettled = unsettledOf(root, lost.dispatcher)
  local ids = redis.call('SMEMBERS', unsettled)
  for _, id in ipairs(ids) do redis.call('SADD', root .. ':suspects', id) end
  if #ids == 1 then charge(root, ids[1], lost) end
  redis.call('DEL', unsettled)
end

-- The dispatcher has survived this attempt, or releases it.
local function leaveUnsettled(root, id)
  local dispatcher = redis.call('HGET', root .. ':x:' .. id, 'dispatcher')
  if not dispatcher then return end
  local unsettled = unsettledOf(root, dispatcher)
  if redis.call('SREM', unsettled, id) == 0 or redis.call('EXISTS', unsettled) == 1 then return end
  if redis.call('DEL', root .. ':alone:' .. dispatcher) == 0 then return end
  redis.call('PUBLISH', root .. ':wake', 'lease')
  redis.call('PUBLISH', root .. ':wake', 'queue')
end

-- The attempt is no suspect any more. Crashes that led to a quarantine stay on the record as evidence.
local function settle(root, id)
  leaveUnsettled(root, id)
  redis.call('SREM', root .. ':suspects', id)
  local x = root .. ':x:' .. id
  if not redis.call('HGET', x, 'quarantined') then redis.call('HDEL', x, 'crashes') end
end

-- True if the store has answered dispatchers for half a lease, without a pause as long as a lease. Otherwise a dispatcher
-- may have lost its lease only because the store did not execute its renewals. Second: true if the server's clock was set
-- back since the last call.
local function answersSteadily(root, now, leaseMs)
  local since, last = string.match(redis.call('GET', root .. ':answering') or '', '^(%d+) (%d+)$')
  local setBack = since ~= nil and now < tonumber(last)
  if not since or setBack or now - last > leaseMs then since = now end
  redis.call('SET', root .. ':answering', int(since) .. ' ' .. int(now))
  return now - since >= leaseMs / 2, setBack
end
