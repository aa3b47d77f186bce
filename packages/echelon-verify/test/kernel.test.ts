import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterLevels, fingerprint, gigpo, grpo, hgpo, rloo, stepReturns } from '../src/kernel.ts';

test('the package exports every documented name', () => {
  const functions = { clusterLevels, fingerprint, gigpo, grpo, hgpo, rloo, stepReturns };
  for (const [name, value] of Object.entries(functions)) assert.equal(typeof value, 'function', name);
});
