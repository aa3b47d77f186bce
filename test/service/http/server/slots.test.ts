import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSlots } from '../../../../src/http/server/slots.ts';
import { coded } from '../../../support/store.ts';

test('a caller gets no more than its slots, and a released slot can be taken again', () => {
  const slots = createSlots(2, 'No more than 2 of them at once.');
  const release = slots.take('one');
  slots.take('one');
  assert.throws(() => slots.take('one'), coded('rate-limited'));
  slots.take('another');
  release();
  slots.take('one');
  assert.throws(() => slots.take('one'), coded('rate-limited'));
});
