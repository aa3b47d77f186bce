import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFeed } from '../../../../src/store/events/feed.ts';
import type { StoreContext } from '../../../../src/store/redis/context.ts';
import { coded } from '../../../support/store.ts';

test('a place that no feed gave out is refused before the server is asked', async () => {
  const feed = createFeed({ keys: {}, limits: {} } as StoreContext);
  for (const after of ['', '01', '-1', '1-0', 'x', '9'.repeat(16)]) {
    await assert.rejects(feed.read('default', after, 10), coded('invalid-cursor'), after);
  }
});
