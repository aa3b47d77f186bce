import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { explainRow, type RowQuery, rowColumns } from 'echelon-verify/explain';
import { verifyBatch } from '../../../../packages/echelon-verify/src/verify/verify-batch.ts';
import { goldenBatch } from '../../../../packages/echelon-verify/test/support/golden-batches.ts';
import type { BatchView } from '../../../../src/schemas/records.ts';
import { keptOutput, runProgram } from '../../../support/cli.ts';
import { appFor, TOKEN } from '../../../support/http-app.ts';
import { assertPrinted } from '../../../support/printed.ts';
import { running, storeFor } from '../../../support/store.ts';

const right = goldenBatch('one-step-episodes');
const reportedAdvantage = right.reportedAdvantage!.slice();
reportedAdvantage[2]! += 0.5;
const wrong = { ...right, reportedAdvantage };

const scope = { after };
let asked: RowQuery | undefined;
const { store } = await storeFor(scope);
const { app } = await appFor(scope, {
  store,
  explain: async (_bytes, { row }) => explainRow(wrong, row),
  rows: async (_bytes, query) => {
    asked = query;
    return Buffer.from(JSON.stringify(rowColumns(wrong, query)));
  },
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
const lease = await running(store);

for (const batch of [1, 2, 3]) {
  const data = Buffer.from(`batch ${batch}`);
  const digest = createHash('sha256').update(data).digest('hex');
  const place = { step: batch, batch, index: 0, count: 1, rows: right.rows, digest, bytes: data.length };
  await store.events.append(lease, [
    { sequence: batch, at: batch, event: { type: 'batch', ...place }, data },
  ]);
}
// Of the third there is no report yet.
for (const record of await store.batches.takePending(2, { holder: 'verifier-1', leaseMs: 60_000 })) {
  const report = verifyBatch(record.batch === 2 ? wrong : right);
  const { rows, exact, rounding, unverifiable, ok } = report;
  const counts = { rows, exact, rounding, wrong: report.wrong, unverifiable, ok };
  const place = { attempt: 1, batch: record.batch, step: record.step };
  await store.batches.report(record, { type: 'verification', ...place, ...counts, errors: [] }, report);
}

async function run(...argv: string[]) {
  const output = keptOutput();
  const connection = ['--url', url, '--token', TOKEN];
  const ended = await runProgram(output, ['batches', ...argv, ...connection]);
  return { output, ...ended };
}

test('--not-ok omits other batches, and a whole list has no remark', async () => {
  const bad = (await run(lease.experiment, '--not-ok', '--json')).output.json<{ items: BatchView[] }>();
  assert.deepEqual(
    bad.items.map(({ batch }) => batch),
    [2],
  );
  assert.deepEqual((await run(lease.experiment, '-n', '3')).output.remarks, []);
});

test('batches lists each batch with its report, shows one with its findings, and explains a row', async (t) => {
  const printed: Record<string, string> = {};
  for (const argv of [[], ['-n', '2'], ['1', '2'], ['1', '3'], ['1', '2', '--row', '2']]) {
    const { output } = await run(lease.experiment, ...argv);
    printed[['batches', lease.experiment, ...argv].join(' ')] = [...output.lines, ...output.remarks].join(
      '\n',
    );
  }
  assertPrinted(t, 'batches', printed);
  const explained = await run(lease.experiment, '1', '2', '--row', '2', '--json');
  assert.equal(explained.output.json<{ explanation: { outcome: string } }>().explanation.outcome, 'wrong');
});

test('the rows of a trajectory and of a state are those of the API', async () => {
  type Rows = { row: number[]; matching: number; trajectories: string[]; trajectory: number[] };
  const rows = async (...words: string[]) =>
    (await run(lease.experiment, '1', '2', ...words, '--json')).output.json<Rows>();
  const all = await rows('--rows');
  const name = all.trajectories[all.trajectory[2]!]!;
  const own = all.row.filter((_row, at) => all.trajectories[all.trajectory[at]!] === name);
  assert.deepEqual((await rows('--trajectory', name)).row, own);
  await rows('--same-state-as', '2', '-n', '3');
  assert.deepEqual(asked, { first: 0, count: 3, sameStateAs: 2 });
  const { output } = await run(lease.experiment, '1', '2', '--trajectory', name, '-n', '1');
  assert.match(output.lines[0]!, /RETURN +REPORTED +TRUE +OUTCOME/);
});

test('what is not there is refused, and half a place is wrong usage', async () => {
  assert.equal((await run(lease.experiment, '1', '9')).exitCode, 4);
  assert.equal((await run(lease.experiment, '1')).exitCode, 2);
  assert.equal((await run(lease.experiment, '--row', '1')).exitCode, 2);
  assert.equal((await run(lease.experiment, '--same-state-as', '1')).exitCode, 2);
});
