import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeInJson } from '../../src/format/json-place.ts';

const at = (text: string) => placeInJson(Buffer.from(text.replace('^', '')), text.indexOf('^'));

test('names batch, field and row of a byte', () => {
  assert.deepEqual(at('{"batches": [{"name": "a,]"}, {"reward": [1, "x,[", ^NaN]}]}'), {
    batch: '#1',
    field: 'reward[2]',
  });
  assert.deepEqual(at('{"batches":[{"reported": {"advantage" : [^NaN'), {
    batch: '#0',
    field: 'reported.advantage[0]',
  });
  assert.deepEqual(at('{"source": ^NaN'), { field: 'source' });
  assert.deepEqual(at('^NaN'), {});
  assert.deepEqual(at('{"a": [1, {"b": 2}], "c": {^'), { field: 'c' });
});
