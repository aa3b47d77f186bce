import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ray from '../src/index.ts';

test('the package export holds what a caller needs', () => {
  for (const name of [
    'connect',
    'credentialsFromEnvironment',
    'functionRef',
    'sourceActorClass',
    'RayPythonError',
  ]) {
    assert.ok(name in ray, name);
  }
});

test('what is generated, and what carries the wire, stays inside', () => {
  for (const name of Object.keys(ray)) assert.doesNotMatch(name, /Datapath|DataPath|Exchange|rpc/i);
});
