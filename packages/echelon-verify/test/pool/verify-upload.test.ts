import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { inBounds, MAX_BATCHES, MAX_ROWS, verifyUpload } from '../../src/pool/verify-upload.ts';
import { unverifiedReport } from '../../src/verify-batch.ts';
import { folder } from '../support/dump-files.ts';

const BUDGET = 2 ** 28;

async function upload(name: string, content: string | Uint8Array, more: object = {}) {
  await using at = await folder();
  const path = await at.write(name, content);
  return await verifyUpload({ path, name, budgetBytes: BUDGET, ...more });
}

const csv = (steps: number, rows: number) =>
  `step,group,reward,advantage\n${Array.from({ length: steps * rows }, (_, at) => `${Math.floor(at / rows)},${at % 2},1,0\n`).join('')}`;

describe('an upload', () => {
  test('a table is verified under its own name, with the folder of the server unseen', async () => {
    await using at = await folder();
    const path = await at.write('run.csv', csv(1, 4));
    await at.write('config.yaml', 'grpo: {}');
    const [report] = await verifyUpload({ path, name: 'run.csv', budgetBytes: BUDGET });
    assert.equal(report?.file, 'run.csv');
    assert.ok(report && 'configuration' in report && report.configuration.origin !== 'found');
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
    const few = [report('one')];
    assert.equal(inBounds('a', few), few);
    const many = inBounds(
      'a',
      Array.from({ length: 1_000 }, () => report('one')),
    );
    assert.equal(many.length, 1_000);
    const [first] = many;
    assert.deepEqual([first?.wrong, first?.wrongRows.length, first?.roundingRows.length], [1_000, 20, 20]);
    assert.equal(first?.findings[0]?.rows.length, 20);
    const long = Array.from({ length: 1_000 }, () => ({ ...report('one'), name: 'n'.repeat(10_000) }));
    assert.throws(() => inBounds('a', long), { code: 'too-large' });
  });
});
