import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ended } from '../../../src/core/events.ts';
import { endOfRun } from '../../../src/engines/external-run.ts';
import { resolveRun } from '../../../src/plan/external-run.ts';

test('defaults are filled in and listed', () => {
  const { spec, defaults } = resolveRun({ name: 'r', rules: [] });
  assert.deepEqual(spec, {
    engine: 'external',
    name: 'r',
    project: 'default',
    silenceSeconds: 900,
    rules: [],
  });
  assert.deepEqual(defaults, ['/engine', '/project', '/silenceSeconds']);
});

test('a rule that stops is refused at its place', () => {
  const stop = { preset: 'wrong-rows', do: 'stop-at-checkpoint' } as const;
  const refused = () => resolveRun({ name: 'r', rules: [{ preset: 'not-finite' }, stop] });
  assert.throws(refused, {
    code: 'invalid-spec',
    problems: [
      {
        field: '/rules/1/do',
        message: 'must be mark, because Echelon cannot stop a run that it did not start',
      },
    ],
  });
});

const ENDED: Ended = {
  type: 'ended',
  cause: 'succeeded',
  exitCode: 0,
  signal: 0,
  message: '',
  lastLines: [],
};

test('the reported end decides; silence is a failure', () => {
  assert.equal(endOfRun(ENDED).to, 'succeeded');
  assert.deepEqual(endOfRun({ ...ENDED, cause: 'killed' }), {
    to: 'failed',
    reason: 'the client reported the end "killed"',
  });
  assert.equal(endOfRun(null).to, 'failed');
});
