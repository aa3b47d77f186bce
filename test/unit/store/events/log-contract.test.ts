import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogStore } from '../../../../src/store/events/log-contract.ts';
import { createLogPlaces } from '../../../../src/store/events/log-places.ts';
import type { StoreContext } from '../../../../src/store/redis/context.ts';

test('a place is answered in numbers, and none as null', async () => {
  const run = async () => ['', '0', '12', '34'];
  const places: LogStore = createLogPlaces({ run } as unknown as StoreContext);
  const place = await places.logPlace('exp-00000000000000000000', { line: 1 });
  assert.deepEqual(place, { entry: null, before: 0, lines: 12, bytes: 34 });
});
