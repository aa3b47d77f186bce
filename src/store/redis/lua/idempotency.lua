-- Requests with an Idempotency-Key. Each caller and key has a hash `{root}:answer:<name>`: `digest` of the request, then
-- `token` while a process executes it, or `answer` after that. A step that creates a record writes the answer itself: after a
-- crash, the request was executed and has its answer, or it was not executed.

-- The state of an earlier request: nil (there is none), 'conflict' (the key belongs to another request), 'running', or
-- 'answered' and its answer. name '': the request has no key.
local function earlierRequest(root, name, digest)
  if name == '' then return nil end
  local known = redis.call('HMGET', root .. ':answer:' .. name, 'digest', 'answer')
  if not known[1] then return nil end
  if known[1] ~= digest then return 'conflict' end
  if known[2] then return 'answered', known[2] end
  return 'running'
end

-- Lifetime of the answer of a step that creates a record (ms): longer than any client retries.
local CREATED_MS = 30 * 24 * 3600 * 1000

-- Stores the id of the record that a request has created as the answer to the request.
local function rememberCreated(root, name, digest, id)
  if name == '' then return end
  local key = root .. ':answer:' .. name
  redis.call('HSET', key, 'digest', digest, 'answer', id)
  redis.call('PEXPIRE', key, CREATED_MS)
end

-- The answer of a step to a repeated request; nil for a new request. `id`: the record that the step would create.
local function createdBefore(root, name, digest, id)
  local outcome, created = earlierRequest(root, name, digest)
  if outcome == 'answered' then return { 'ok', created, created == id and '1' or '0' } end
  return outcome and { 'conflict' }
end
