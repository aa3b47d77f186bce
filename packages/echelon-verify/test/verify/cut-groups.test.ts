import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchOf, namesOf } from '../../src/dumps/dump-batch.ts';
import { TABLE } from '../../src/dumps/table.ts';
import { estimatorFrom } from '../../src/format/batch.ts';
import { estimate } from '../../src/identify/estimate.ts';
import { lookCut } from '../../src/verify/cut-groups.ts';
import { verifyDump } from '../../src/verify/verify-dump.ts';
import { folder, jsonLines } from '../support/dump-files.ts';

const GROUPS = [
  [0.1, 0.9, 0.4, 0.3, 0.7, 0.2],
  [0.8, 0.5, 0.6, 1, 0.3, 0.9],
  [0, 0.2, 0.1, 0.4, 0.3, 0.6],
];

/** Rows of groups with the advantages of whole groups, or of the batch as one group. */
function rowsOf({ isBatch = false } = {}) {
  const names = GROUPS.flatMap((rewards, group) => rewards.map(() => (isBatch ? 'all' : `g${group}`)));
  const reward = Float64Array.from(GROUPS.flat());
  const step = { name: 's', file: 'f', group: namesOf(names), reward, findings: [] };
  const { advantage } = estimate(batchOf(step, estimatorFrom('grpo')));
  return GROUPS.flatMap((rewards, group) => rewards.map((own, at) => ({ group, at, reward: own }))).map(
    (row, at) => ({ ...row, advantage: Math.fround(advantage[at]!) }),
  );
}

type Row = ReturnType<typeof rowsOf>[number];
const batchFrom = (rows: readonly Row[]) =>
  batchOf(
    {
      name: 's',
      file: 'f',
      group: namesOf(rows.map(({ group }) => `g${group}`)),
      reward: Float64Array.from(rows, ({ reward }) => reward),
      advantage: Float64Array.from(rows, ({ advantage }) => advantage),
      findings: [],
    },
    estimatorFrom('grpo'),
  );
const isExtreme = ({ group, reward }: Row): boolean =>
  reward === Math.min(...GROUPS[group]!) || reward === Math.max(...GROUPS[group]!);

test('the best and the worst of each group look cut', () => {
  assert.equal(lookCut(batchFrom(rowsOf().filter(isExtreme))), true);
});

test('whole groups, a mean over the batch, another deviation and swapped rows do not look cut', () => {
  const all = rowsOf();
  assert.equal(lookCut(batchFrom(all)), false);
  assert.equal(lookCut(batchFrom(rowsOf({ isBatch: true }))), false);
  assert.equal(lookCut(batchFrom(all.map((row) => ({ ...row, advantage: 2 * row.advantage })))), false);
  const mean = all.reduce((sum, { reward }) => sum + reward, 0) / all.length;
  const ownDeviation = all.map((row) => {
    const [a, b] = all.filter(({ group }) => group === row.group);
    const deviation = (b!.reward - a!.reward) / (b!.advantage - a!.advantage);
    return { ...row, advantage: (row.reward - mean) / deviation };
  });
  assert.equal(lookCut(batchFrom(ownDeviation)), false);
  const swapped = all.map((row, at) => ({ ...row, advantage: all[at ^ 1]!.advantage }));
  assert.equal(lookCut(batchFrom(swapped)), false);
});

test('a table of cut groups is not verified and says so, unless the size is stated', async () => {
  await using dir = await folder();
  const path = await dir.write('a.jsonl', jsonLines(rowsOf().filter(isExtreme)));
  const verified = async (stated: object) =>
    (await Array.fromAsync(verifyDump(TABLE, [path], { estimator: 'grpo', ...stated })))[0]!;
  const cut = await verified({});
  assert.deepEqual([cut.wrong, cut.unverifiable, cut.consistent], [0, 6, false]);
  assert.match(cut.findings[0]!.message, /^These look like parts of larger groups\./);
  const whole = await verified({ groupSize: 2 });
  assert.equal(whole.wrong, 6);
});
