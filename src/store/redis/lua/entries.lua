-- Reads entries of a stream in small groups, and stops after BYTES_PER_CALL: for a script, Redis copies whole entries with
-- the bytes of batch parts, and no other client is served meanwhile.
local ENTRIES_AT_ONCE, BYTES_PER_CALL = 8, 1048576

-- Calls visit(id, fields) for each entry from `from` on (as XRANGE takes it), or backwards from there ('XREVRANGE').
-- Returns whether there may be more entries.
local function readEntries(command, key, from, limit, visit)
  local to, count, bytes = command == 'XRANGE' and '+' or '-', 0, 0
  while count < limit and bytes < BYTES_PER_CALL do
    local wanted = math.min(ENTRIES_AT_ONCE, limit - count)
    local entries = redis.call(command, key, from, to, 'COUNT', wanted)
    for _, entry in ipairs(entries) do
      local fields = entry[2]
      bytes = bytes + #fields[6] + #(fields[8] or '')
      visit(entry[1], fields)
    end
    count = count + #entries
    if #entries < wanted then return false end
    from = '(' .. entries[#entries][1]
  end
  return true
end
