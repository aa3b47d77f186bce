import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchFormatError, describeValue } from '../../src/format/format-error.ts';

test('the message names file, batch, field, what was expected and what was found', () => {
  const fault = {
    code: 'invalid',
    file: 'a.json',
    batch: 'b',
    field: 'step[2]',
    expected: 'an integer',
    found: 'null',
  } as const;
  assert.equal(
    new BatchFormatError(fault).message,
    'a.json, batch b, field step[2]: expected an integer, found null',
  );
  const short = new BatchFormatError({ code: 'unreadable', file: 'a.json', expected: 'JSON' });
  assert.equal(short.message, 'a.json: expected JSON');
  assert.ok(short instanceof Error && short.name === 'BatchFormatError' && short.batch === undefined);
});

test('values are described in few words', () => {
  const long = 'x'.repeat(1e6);
  const described = [undefined, null, [1, 2], {}, 'a', long, 1.5, true].map(describeValue);
  assert.deepEqual(described, [
    'nothing',
    'null',
    'an array of 2',
    'an object',
    '"a"',
    'a text of 1000000 characters',
    'number 1.5',
    'boolean true',
  ]);
});
