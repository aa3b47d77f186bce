import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetricSeries } from '../../../../src/store/metrics/metric-series.ts';
import type { StoreContext } from '../../../../src/store/redis/context.ts';

test('a read without names sends no command', async () => {
  const reader = createMetricSeries({} as StoreContext);
  assert.deepEqual(await reader.series('exp-00000000000000000000', { names: [], resolution: 5 }), []);
});
