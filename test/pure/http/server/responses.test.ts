import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problems } from '../../../../src/http/server/responses.ts';

test('problems() has one response for each status, which names its error codes', () => {
  const answers = problems(['invalid-spec', 'store-full', 'not-found']) as Record<
    string,
    { description: string }
  >;
  assert.deepEqual(Object.keys(answers), ['400', '401', '403', '404', '415', '429', '431', '500', '503']);
  assert.match(answers['400']!.description, /`invalid-request`.*`invalid-spec`/);
  assert.match(answers['503']!.description, /`store-unavailable`.*`record-too-new`.*`store-full`/);
});
