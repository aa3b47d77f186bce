-- Suffixes of the keys of an experiment. A new key must be listed here, so that a delete removes it.
local EXPERIMENT_KEYS = { 'events', 'metrics', 'attempts', 'batches', 'reports', 'artifacts', 'stored', 'evaluations', 'kept', 'rules',
  'series', 'series:names', 'series:rows', 'lines', 'lines:sums' }
