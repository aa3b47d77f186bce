import assert from 'node:assert/strict';
import { test } from 'node:test';
import { END_CAUSES } from '../../../src/core/events.ts';
import { RETRIED_CAUSES } from '../../../src/store/store.ts';

test('an end of the driver’s own making is not tried again', () => {
  for (const cause of RETRIED_CAUSES) assert.ok(END_CAUSES.includes(cause));
  for (const cause of ['succeeded', 'failed', 'stopped'] as const) assert.ok(!RETRIED_CAUSES.includes(cause));
});
