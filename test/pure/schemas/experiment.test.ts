import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STATES } from '../../../src/core/states.ts';
import { Experiment, RECORD_VERSION, VerificationCounts } from '../../../src/schemas/experiment.ts';

test('the schema of an experiment has the record version and every state', () => {
  assert.equal((Experiment.properties.version as { const?: number }).const, RECORD_VERSION);
  assert.deepEqual((Experiment.properties.state as { enum?: string[] }).enum, [...STATES]);
  // The assignment compiles only if the type has the states and is not `never`.
  const state: Experiment['state'] = 'queued';
  assert.ok(STATES.includes(state));
});

test('the schema of the verification counts is closed', () => {
  assert.equal((VerificationCounts as { additionalProperties?: boolean }).additionalProperties, false);
  assert.ok(Object.keys(VerificationCounts.properties).includes('unverifiable'));
});
