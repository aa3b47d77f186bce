-- The entry of an earlier request with this key, where there is one: digest of the request, id of what it made.
-- names: under which it may stand, separated by spaces; '': the request has no key.
local function earlierRequest(root, names)
  for name in string.gmatch(names, '%S+') do
    local known = redis.call('HMGET', root .. ':idempotency:' .. name, 'digest', 'id')
    if known[1] then return known[1], known[2] end
  end
end

-- A key counts for so long (s): far longer than anybody repeats a request, and not for ever.
local KEY_SECONDS = 30 * 24 * 3600

-- Remembers what a request with a key has made, under the first of its names.
local function rememberRequest(root, names, digest, id)
  local name = string.match(names, '%S+')
  if not name then return end
  local key = root .. ':idempotency:' .. name
  redis.call('HSET', key, 'digest', digest, 'id', id)
  redis.call('EXPIRE', key, KEY_SECONDS)
end
