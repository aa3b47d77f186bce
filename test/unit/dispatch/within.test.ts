import assert from 'node:assert/strict';
import { test } from 'node:test';
import { within } from '../../../src/dispatch/within.ts';

test('ends with the work, with the time, and at once where there is no work', async () => {
  const never = new Promise(() => {});
  await within(60_000, Promise.resolve());
  await within(1, never);
  await within(60_000, undefined);
});

test("a failure of the work is its caller's", async () => {
  await assert.rejects(within(60_000, Promise.reject(new Error('broken'))), /broken/);
});
