import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readObservations } from '../../src/format/json-observations.ts';

const place = { file: 'f', batch: 'b' };

test('equal values get one id, by first appearance', () => {
  const read = readObservations(place, { observation: ['s', 1, 's', true, 1.0, '1'] }, 6);
  assert.deepEqual(Array.from(read.observation!), [0, 1, 0, 1, 1, 2]);
  assert.deepEqual(read.dictionary, { count: 3, texts: ['"s"', '1', '"1"'] });
  assert.deepEqual([0, 1, 2, 9].map(read.observationLabel), ['s', '1', '1', '9']);
});

test('an index into a dictionary whose entries repeat is brought to one id', () => {
  const read = readObservations(place, { observationIndex: [2, 0, 1, 2], observations: ['x', [1], 'x'] }, 4);
  assert.deepEqual(Array.from(read.observation!), [0, 0, 1, 0]);
  assert.equal(read.dictionary?.count, 2);
});

test('without observations there is no column', () => {
  assert.deepEqual(Object.keys(readObservations(place, {}, 3)), ['observationLabel']);
});

test('both forms at once are refused', () => {
  const both = { observation: ['x'], observationIndex: [0], observations: ['x'] };
  assert.throws(() => readObservations(place, both, 1), /either observation or observationIndex/);
});
