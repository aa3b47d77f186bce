import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLACES, unusedParameters, withParameters } from '../../../../src/engines/command/arguments.ts';

test('a parameter replaces its name in every argument once, and other braces stay', () => {
  const argv = ['--lr={lr}', '{"a":{lr}}', '{tag}', '{other} {}', ...PLACES.map((name) => `{${name}}`)];
  assert.deepEqual(withParameters(argv, { lr: 1e-7, tag: '{lr}', on: true }), [
    ...['--lr=1e-7', '{"a":1e-7}', '{lr}', '{other} {}'],
    ...['{sharedRoot}', '{experimentDir}', '{attemptDir}', '{checkpoint}'],
  ]);
});

test('parameters that no argument names are unused', () => {
  assert.deepEqual(unusedParameters(['--lr={lr}', 'tag'], { lr: 1, tag: 'x' }), ['tag']);
});
