import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkConfig } from '../../../src/cli/config-schema.ts';

test('a configuration with contexts is valid', () => {
  assert.deepEqual(checkConfig({ current: 'lab', contexts: { lab: { url: 'https://lab.example' } } }), []);
});

test('an unknown key and an address without a scheme are problems', () => {
  const problems = checkConfig({ contexts: { lab: { url: 'lab.example', tokn: 'x' } } });
  assert.deepEqual(problems.map(({ field }) => field).sort(), ['/contexts/lab/tokn', '/contexts/lab/url']);
});
