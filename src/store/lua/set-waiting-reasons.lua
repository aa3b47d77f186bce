#!lua flags=allow-oom
-- Notes why experiments wait; those that wait no longer are passed over.
--
-- KEYS[1]   root of all keys
-- ARGV      experiment and reason in turn
-- Returns   how many were noted

local root, noted = KEYS[1], 0
for i = 1, #ARGV, 2 do
  if redis.call('ZSCORE', root .. ':line', ARGV[i]) then
    redis.call('HSET', root .. ':x:' .. ARGV[i], 'waitReason', ARGV[i + 1])
    noted = noted + 1
  end
end
return noted
