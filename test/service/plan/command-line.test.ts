import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LaunchPlan } from '../../../src/core/launch-plan.ts';
import { commandLine } from '../../../src/plan/command-line.ts';

const PLAN: LaunchPlan = {
  engine: 'local',
  module: 'package.module',
  arguments: ['a=1', 'dir={experimentDir}'],
  environment: { B: 'two words', A: '1' },
  gpus: 0,
  cpus: 1,
  gracePeriodMs: 1000,
  files: {},
};

test('a command line quotes its arguments and environment as a shell needs them', () => {
  assert.equal(commandLine(PLAN), "A=1 B='two words' python -m package.module a=1 'dir={experimentDir}'");
});

test("a command line takes secrets from the user's environment", () => {
  const line = commandLine({ ...PLAN, environment: {}, arguments: [], secrets: { HF_TOKEN: 'hf-read' } });
  assert.equal(line, 'HF_TOKEN="$HF_TOKEN" python -m package.module');
});

test('a shell reads exactly the arguments of a command line, whatever they contain', () => {
  const text = fc
    .string({ unit: 'binary', maxLength: 20 })
    .filter((one) => !one.includes('\0') && one.isWellFormed());
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), (args) => {
      const line = commandLine({ ...PLAN, arguments: args, environment: {} });
      const script = `python() { for one in "$@"; do printf '%s\\0' "$one"; done; }; ${line}`;
      const read = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
      assert.deepEqual(read, ['-m', 'package.module', ...args]);
    }),
    { numRuns: 30 },
  );
});
