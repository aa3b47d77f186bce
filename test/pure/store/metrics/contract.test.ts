import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SeriesStore } from '../../../../src/store/metrics/contract.ts';
import { createMetricSeries } from '../../../../src/store/metrics/metric-series.ts';
import type { StoreContext } from '../../../../src/store/redis/context.ts';

test('a read without names sends no command', async () => {
  const reader: Pick<SeriesStore, 'series'> = createMetricSeries({} as StoreContext);
  assert.deepEqual(await reader.series('exp-00000000000000000000', { names: [], resolution: 5 }), []);
});
