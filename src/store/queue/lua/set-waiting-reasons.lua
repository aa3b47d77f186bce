#!lua flags=allow-oom
-- Notes why experiments wait, which place they have and when they are expected to start; those that wait no longer are
-- passed over.
--
-- KEYS[1]   root of all keys
-- ARGV      experiment, reason, place ('': not known) and estimate (JSON; '': none) in turn
-- Returns   how many were noted

local root, noted = KEYS[1], 0
for i = 1, #ARGV, 4 do
  if redis.call('ZSCORE', root .. ':queue', ARGV[i]) then
    redis.call('HSET', root .. ':x:' .. ARGV[i], 'waitReason', ARGV[i + 1], 'waitRank', ARGV[i + 2], 'waitEstimate',
      ARGV[i + 3])
    noted = noted + 1
  end
end
return noted
