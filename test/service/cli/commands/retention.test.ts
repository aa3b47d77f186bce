import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { retentionTable } from '../../../../src/cli/retention-text.ts';
import type { RetentionPreview } from '../../../../src/schemas/retention.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';

const { connection } = await apiFor({ after });

async function run(...argv: string[]) {
  const output = keptOutput();
  return { output, ...(await runProgram(output, ['projects', 'get', ...argv, ...connection])) };
}

test('projects get shows the retention of a project, and that nothing is due', async () => {
  const { output } = await run('default');
  assert.match(output.lines.join('\n'), /bytes of batches +30 d +0 +0 B\n.* 90 d .*\nrecords +730 d +0/);
  assert.match(
    output.lines.join('\n'),
    /Clusters retain event logs for 7 d; those of 0 experiments expire\./,
  );
  const asJson = (await run('default', '--json')).output.json<{ name: string; preview: RetentionPreview }>();
  assert.deepEqual([asJson.name, asJson.preview.project], ['default', 'default']);
});

test('an unknown project is said to be none', async () => {
  const { error, exitCode } = await run('absent');
  assert.notEqual(exitCode, 0);
  assert.match(String(error), /no project absent/);
});

test('bytes are in units that people read', () => {
  const stage = {
    stage: 'batches',
    days: 3,
    endedBefore: 1,
    experiments: 2,
    first: ['a', 'b', 'c'],
  } as const;
  const shown = [999, 1000, 12_345_678, 2e15].map((bytes) =>
    retentionTable({ stages: [{ ...stage, first: [...stage.first], bytes, complete: bytes < 2e15 }] }),
  );
  assert.deepEqual(
    shown.map((text) => /(over )?\d[\d.]* [kMGT]?B/.exec(text)?.[0]),
    ['999 B', '1.0 kB', '12.3 MB', 'over 2000.0 TB'],
  );
});
