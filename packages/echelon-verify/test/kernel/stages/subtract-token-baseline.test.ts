import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachPlace, type TokenAlignment } from '../../../src/kernel/stages/subtract-token-baseline.ts';

/** The places of responses of one group, by masks: the tokens at each, and those that get the baseline. */
function places(masks: readonly string[], align: TokenAlignment, zeroTail = true): string[] {
  const lengths = masks.map((mask) => mask.length);
  const offset = Int32Array.of(
    0,
    ...lengths.map((_, row) => lengths.slice(0, row + 1).reduce((a, b) => a + b)),
  );
  const mask = Uint8Array.from(masks.join(''), Number);
  const found: string[] = [];
  forEachPlace(
    { align, zeroTail },
    { offset, mask, group: new Int32Array(masks.length) },
    (tokens, compared) => {
      found.push(`${tokens} ${compared.length === tokens.length ? '' : `only ${compared}`}`.trim());
    },
  );
  return found;
}

test('tokens are compared at one position, or as the j-th that are trained', () => {
  assert.deepEqual(places(['101', '111'], 'position'), ['0,3', '4', '2,5 only 2']);
  assert.deepEqual(places(['101', '111'], 'trained-token'), ['0,3', '2,4', '5 only']);
});

test('the only longest response has no baseline beyond the second longest, unless two are longest', () => {
  assert.deepEqual(places(['11', '1', '1111'], 'position'), ['0,2,3', '1,4', '5 only', '6 only']);
  assert.deepEqual(places(['11', '1', '1111'], 'position', false), ['0,2,3', '1,4', '5', '6']);
  assert.deepEqual(places(['11', '11', '1'], 'position'), ['0,2,4', '1,3']);
});

test('a group of one response has no place, and a response without a trained token counts by position only', () => {
  assert.deepEqual(places(['11'], 'position'), []);
  assert.deepEqual(places(['11', '00'], 'trained-token'), []);
  assert.deepEqual(places(['11', '00'], 'position', false), ['0', '1']);
});
