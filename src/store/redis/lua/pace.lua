-- Adds a duration to a summary: count, mean and sum of squared deviations (Welford), as text.
local function withMeasurement(text, value)
  local n, mean, squares = string.match(text or '', '^(%S+) (%S+) (%S+)$')
  n, mean, squares = tonumber(n or '0') + 1, tonumber(mean or '0'), tonumber(squares or '0')
  local difference = value - mean
  mean = mean + difference / n
  return string.format('%.0f %.17g %.17g', n, mean, squares + difference * (value - mean))
end
