-- Adds an entry (JSON) to the audit log and deletes the oldest ones. Entries of administrators have a stream of their own.
-- Every other caller has a limited number of entries: one more replaces the caller's oldest. All unauthenticated callers
-- together count as one. No other code changes the log. Needs time.
-- log: entry (JSON), ring (the caller that the entry counts for, or 'admin'), max, maxOfCaller, retainMs

-- Ids are the time in ms, then the microseconds, odd for administrators: no id is in both streams, which have a common order.
local function auditId(ms, number, administrative)
  return int(ms) .. '-' .. int(2 * number + (administrative and 1 or 0))
end

-- An id after every entry of both streams.
local function laterAuditId(root, now, administrative)
  local ms, number = now, 0
  for _, name in ipairs({ ':audit', ':audit:admin' }) do
    local newest = redis.call('XREVRANGE', root .. name, '+', '-', 'COUNT', 1)[1]
    local lastMs, last = string.match(newest and newest[1] or '0-0', '^(%d+)-(%d+)$')
    lastMs, last = tonumber(lastMs), math.floor(tonumber(last) / 2)
    if lastMs > ms or (lastMs == ms and last >= number) then ms, number = lastMs, last + 1 end
  end
  return auditId(ms, number, administrative)
end

-- Adds the entry and returns its id. The stream refuses an id that is not its highest: the clock was set back.
local function addAudit(root, stream, log, administrative)
  local time, now = redis.call('TIME'), nowMs()
  local id = auditId(now, time[2] % 1000, administrative)
  local added = redis.pcall('XADD', stream, 'MAXLEN', '~', log.max, id, 'e', log.entry)
  if type(added) == 'string' then return id end
  return redis.call('XADD', stream, 'MAXLEN', '~', log.max, laterAuditId(root, now, administrative), 'e', log.entry)
end

local function recordAudit(root, log, now)
  local administrative = log.ring == 'admin'
  local stream = root .. (administrative and ':audit:admin' or ':audit')
  local id = addAudit(root, stream, log, administrative)
  redis.call('XTRIM', stream, 'MINID', '~', int(now - log.retainMs))
  if administrative then return id end
  local ring = root .. ':audit:of:' .. log.ring
  if redis.call('RPUSH', ring, id) > tonumber(log.maxOfCaller) then
    redis.call('XDEL', stream, redis.call('LPOP', ring))
  end
  redis.call('PEXPIRE', ring, log.retainMs)
  return id
end
