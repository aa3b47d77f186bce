import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSpec } from '../../../../src/dashboard/models/spec-text.ts';

test('a text that is no JSON object is refused with its reason', () => {
  assert.deepEqual(parseSpec('{"engine": "replay"}'), { engine: 'replay' });
  assert.throws(() => parseSpec('{'), /^Error: The text is not JSON/);
  assert.throws(() => parseSpec('[1]'), /A spec is a JSON object/);
});
