-- Requests with an Idempotency-Key. A hash `{root}:answer:<name>` has one entry for each caller and key: `digest` of the
-- request, then `token` while one process carries the request out, or `answer` once the request was carried out. A step
-- that stores what a request asks for writes the answer itself: after a crash the request was carried out with its
-- answer, or not at all.

-- How far the request came: nil (there is no entry), 'conflict' (the entry belongs to another request), 'running', or
-- 'answered' and its answer. name '': the request has no key.
local function earlierRequest(root, name, digest)
  if name == '' then return nil end
  local known = redis.call('HMGET', root .. ':answer:' .. name, 'digest', 'answer')
  if not known[1] then return nil end
  if known[1] ~= digest then return 'conflict' end
  if known[2] then return 'answered', known[2] end
  return 'running'
end

-- An entry of a step that stores what a request asks for expires after this time (ms): long after the last repetition.
local MADE_MS = 30 * 24 * 3600 * 1000

-- Remembers the id of the record that a request has made as the answer to the request.
local function rememberMade(root, name, digest, id)
  if name == '' then return end
  local key = root .. ':answer:' .. name
  redis.call('HSET', key, 'digest', digest, 'answer', id)
  redis.call('PEXPIRE', key, MADE_MS)
end

-- The answer of a step to a request that was sent before; nil to a new request. `id`: of the record that the step would make.
local function madeBefore(root, name, digest, id)
  local outcome, made = earlierRequest(root, name, digest)
  if outcome == 'answered' then return { 'ok', made, made == id and '1' or '0' } end
  return outcome and { 'conflict' }
end
