import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { encodeStep } from '../../src/format/step-wire.ts';
import { inBounds, MAX_BATCHES, MAX_ROWS, verifyUpload } from '../../src/pool/verify-upload.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import { unverifiedReport } from '../../src/verify/verify-batch.ts';
import { exampleBatch, readOne, stepFile } from '../step/sample-step.ts';
import { folder } from '../support/dump-files.ts';

const BUDGET = 2 ** 28;

async function upload(name: string, content: string | Uint8Array, more: object = {}) {
  await using at = await folder();
  const path = await at.write(name, content);
  return await verifyUpload({ path, name, budgetBytes: BUDGET, ...more });
}

const goldenDump = (path: string) =>
  fileURLToPath(new URL(`../../../../test/golden/dumps/${path}`, import.meta.url));

const csv = (steps: number, rows: number) =>
  `step,group,reward,advantage\n${Array.from({ length: steps * rows }, (_, at) => `${Math.floor(at / rows)},${at % 2},1,0\n`).join('')}`;

describe('an upload', () => {
  test('a table is verified under its own name, with the folder of the server unseen', async () => {
    await using at = await folder();
    const path = await at.write('run.csv', csv(1, 4));
    await at.write('config.yaml', 'grpo: {}');
    const { batches } = await verifyUpload({ path, name: 'run.csv', budgetBytes: BUDGET });
    const [report] = batches;
    assert.equal(report?.file, 'run.csv');
    assert.ok(report && 'configuration' in report && report.configuration.origin !== 'found');
  });

  test('an optimizer step has one report as JSON and as protobuf, within the same limits', async () => {
    const example = exampleBatch();
    const json = stepFile(example);
    const wire = encodeStep(readOne(example));
    for (const content of [json, wire, gzipSync(wire)]) {
      const { batches, steps } = await upload('update.bin', content);
      assert.equal(batches.length, 0);
      assert.deepEqual(steps, [{ file: 'update.bin', ...verifyStep(readOne(example)) }]);
    }
    const many = stepFile(...Array.from({ length: MAX_BATCHES + 1 }, () => example));
    await assert.rejects(upload('a.json', many), { code: 'too-large', file: 'a.json' });
    const { steps } = await upload('a.pb', wire, { budgetBytes: 500 });
    assert.deepEqual([steps[0]?.ok, steps[0]?.findings[0]?.code], [false, 'budget-exceeded']);
  });

  test('a dump of optimizer steps has their reports, told by its content or by its stated format', async () => {
    const skyrl = await readFile(goldenDump('skyrl/dumped_data/global_step_4_training_input.pkl'));
    const tokens = await readFile(goldenDump('prime-rl-tokens/wrong/token_exports/step_3/rank_0.jsonl'));
    const slime = await readFile(goldenDump('slime/train_data/0_0.pt'));
    const found = [
      await upload('global_step_4_training_input.pkl', skyrl),
      await upload('rank_0.jsonl', tokens),
      await upload('0_0.pt', slime, { from: 'slime-steps' }),
    ];
    assert.deepEqual(
      found.map(({ batches, steps }) => [batches.length, steps[0]?.file, steps[0]?.name]),
      [
        [0, 'global_step_4_training_input.pkl', 'step 4'],
        [0, 'rank_0.jsonl', 'step 3'],
        [0, '0_0.pt', 'step 0'],
      ],
    );
    assert.equal((await upload('0_0.pt', slime)).steps.length, 0);
    await assert.rejects(upload('global_step_1.pkl', skyrl.subarray(0, 2000)), {
      file: 'global_step_1.pkl',
    });
  });

  test('a file of too many batches or rows is refused', async () => {
    const tooLarge = { code: 'too-large', file: 'a.csv' };
    const stated = { stated: { map: { step: 'step' } } };
    await assert.rejects(upload('a.csv', csv(MAX_BATCHES + 1, 2), stated), tooLarge);
    await assert.rejects(upload('a.csv', csv(1, MAX_ROWS + 1)), tooLarge);
  });

  test('gzip that unfolds beyond the budget is refused before it is unfolded', async () => {
    const bomb = gzipSync(`{"format":"echelon-batch/1","batches":[${' '.repeat(50_000_000)}]}`);
    assert.ok(bomb.length < 100_000);
    await assert.rejects(upload('bomb.json.gz', bomb, { budgetBytes: 2 ** 24 }), {
      ...{ code: 'too-large', file: 'bomb.json.gz' },
    });
  });

  test('an error names the file as it was sent, and not its place on the server', async () => {
    await assert.rejects(upload('a.parquet', 'PAR1'), (error: Error) => {
      assert.match(error.message, /^a\.parquet: /);
      return true;
    });
  });

  test('long reports get shorter lists of rows, and are refused if they are long nonetheless', () => {
    const rows = Array.from({ length: 1_000 }, (_, row) => row + 100_000);
    const report = (name: string) => ({
      ...{ ...unverifiedReport({ name, rows: 1_000, fingerprint: 'f' }, 'r'), file: 'a', wrong: 1_000 },
      ...{
        wrongRows: rows,
        roundingRows: rows,
        findings: [{ code: 'c', severity: 'error' as const, rows, message: 'm' }],
      },
    });
    const reports = (count: number, name: string) => ({
      batches: Array.from({ length: count }, () => ({ ...report('one'), name })),
      steps: [],
    });
    const few = reports(1, 'one');
    assert.equal(inBounds('a', few), few);
    const many = inBounds('a', reports(1_000, 'one')).batches;
    assert.equal(many.length, 1_000);
    const [first] = many;
    assert.deepEqual([first?.wrong, first?.wrongRows.length, first?.roundingRows.length], [1_000, 20, 20]);
    assert.equal(first?.findings[0]?.rows.length, 20);
    assert.throws(() => inBounds('a', reports(1_000, 'n'.repeat(10_000))), { code: 'too-large' });
  });
});
