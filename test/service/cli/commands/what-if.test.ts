import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { WhatIf } from 'echelon-client/calls';
import { whatIfText } from '../../../../src/cli/what-if.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { submitInput } from '../../../support/store.ts';

const { store, connection } = await apiFor({ after });

async function run(...argv: string[]) {
  const output = keptOutput();
  return { output, ...(await runProgram(output, [...argv, ...connection])) };
}

test('submit --dry-run says when a file with its changes would start, and submits nothing', async () => {
  const { output } = await run('submit', '--dry-run', 'deploy/examples/replay-fault.yaml', '--priority', '3');
  assert.match(output.lines.join('\n'), /^Would start at an unknown time, at position 1: .*cluster/m);
  assert.match(output.lines.join('\n'), /0 queued experiments would start later, 0 earlier/);
  assert.equal((await store.experiments.counts()).queued, 0);
});

test('update --priority --dry-run answers for a queued experiment, and changes nothing', async () => {
  const { id } = await store.experiments.submit(submitInput());
  const { output } = await run('update', id, '--priority', '5', '--dry-run', '--json');
  assert.equal(output.json<WhatIf>().before?.position, 1);
  assert.equal((await store.experiments.get(id))?.priority, 0);
});

test('the answer names the start, the place and the delayed experiments', () => {
  const at = (minutes: number) => ({ startAt: minutes * 60_000, earliest: 0, latest: minutes * 120_000 });
  const outcome = {
    startsNow: false,
    position: 2,
    waitReason: 'needs 8 GPUs',
    estimate: at(10),
    noEstimate: null,
    place: { cluster: 'fleet', nodes: ['n1', 'n2'], endAt: null, isHead: false },
  };
  const none = { ...outcome, startsNow: true, position: null, waitReason: null, place: null };
  const shift = { experiment: 'exp-1', name: 'theirs', project: 'p', from: at(5), to: null };
  const counts = { later: 1, earlier: 0, examined: 2, isWhole: true };
  assert.deepEqual(whatIfText({ before: none, after: outcome, ...counts, shifts: [shift] }, 0).split('\n'), [
    'Would start in 10 min (0 s to 20 min), at position 2, on fleet n1, n2.',
    'Without the change: now.',
    'needs 8 GPUs',
    '',
    '1 queued experiment would start later, 0 earlier.',
    'ID     NAME    PROJECT  STARTS IN  WOULD START IN',
    'exp-1  theirs  p        5 min      ?',
  ]);
});
