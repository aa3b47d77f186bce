-- Looks at entries of a stream, some at a time, and at no more once these were long: Redis copies all of an entry for a
-- script, the bytes of batch parts included, and nobody else has a turn meanwhile.
local ENTRIES_AT_ONCE, BYTES_LOOKED_AT = 8, 1048576

-- Calls look(id, fields) for each entry from `from` on (as XRANGE takes it), or from there back ('XREVRANGE').
-- Returns whether there may be more of them.
local function lookAtEntries(command, key, from, limit, look)
  local to, looked, bytes = command == 'XRANGE' and '+' or '-', 0, 0
  while looked < limit and bytes < BYTES_LOOKED_AT do
    local wanted = math.min(ENTRIES_AT_ONCE, limit - looked)
    local entries = redis.call(command, key, from, to, 'COUNT', wanted)
    for _, entry in ipairs(entries) do
      local fields = entry[2]
      bytes = bytes + #fields[6] + #(fields[8] or '')
      look(entry[1], fields)
    end
    looked = looked + #entries
    if #entries < wanted then return false end
    from = '(' .. entries[#entries][1]
  end
  return true
end
