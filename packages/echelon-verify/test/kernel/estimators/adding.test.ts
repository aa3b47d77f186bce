import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { compareFile } from '../../../src/cli/compare-file.ts';
import { estimateFile } from '../../../src/cli/estimate-file.ts';
import { verifyFiles } from '../../../src/cli/verify-files.ts';
import { explainRow } from '../../../src/explain/explain.ts';
import { formatExplanation } from '../../../src/explain/explain-text.ts';
import { decodeBatch, encodeBatch } from '../../../src/format/batch-wire.ts';
import { writeBundle } from '../../../src/format/bundle.ts';
import { readBatches } from '../../../src/format/read-batch.ts';
import { estimate } from '../../../src/identify/estimate.ts';
import type { EstimatorName } from '../../../src/kernel.ts';
import { ESTIMATORS, isEstimatorName } from '../../../src/kernel.ts';
import { verifyBatch } from '../../../src/verify/verify-batch.ts';
import { captured } from '../../support/captured.ts';
import { MEAN_BASELINE } from '../../support/mean-baseline.ts';

const NAME = MEAN_BASELINE.name as EstimatorName;
const PARAMS = { estimator: NAME, scale: 0.5 };
const FINGERPRINT = 'mean_baseline(scale=0.5,over=rows)';

/** Scores 1, 0, 0, 0 and 0.3, 0.3, and what the estimator makes of them, times `factor`. */
function file(params: object, factor = 1): Uint8Array {
  const advantage = [0.375, -0.125, -0.125, -0.125, 0, 0].map((a) => factor * a);
  const group = ['a', 'a', 'a', 'a', 'b', 'b'];
  const batch = {
    name: 'example',
    params,
    group,
    trajectory: [0, 1, 2, 3, 4, 5],
    step: [0, 0, 0, 0, 0, 0],
    tokenLevelRewardSum: [1, 0, 0, 0, 0.3, 0.3],
    reported: { advantage },
  };
  return Buffer.from(JSON.stringify({ format: 'echelon-batch/1', batches: [batch] }));
}

const batchOf = (params: object, factor = 1) => readBatches(file(params, factor), 'f')[0]!;

describe('an estimator that is added', () => {
  let folder: string;
  const registry: Record<string, unknown> = ESTIMATORS;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'estimator-'));
    registry[NAME] = MEAN_BASELINE;
  });
  after(async () => {
    delete registry[NAME];
    assert.ok(!isEstimatorName(NAME));
    await rm(folder, { recursive: true });
  });

  test('is read from a file with its parameters, and no others', () => {
    assert.deepEqual(batchOf(PARAMS).estimator.params, { scale: 0.5, statistics: 'rows' });
    assert.throws(() => batchOf({ ...PARAMS, scales: 1 }), /did you mean scale/);
    assert.throws(() => batchOf({ ...PARAMS, scale: 'much' }), /params\.scale.*a number/s);
  });

  test('is evaluated by its own formula, also on batches of another estimator', () => {
    assert.deepEqual(
      Array.from(estimate(batchOf(PARAMS)).advantage).slice(0, 4),
      [0.375, -0.125, -0.125, -0.125],
    );
    const other = estimate(batchOf({ estimator: 'grpo' }), { name: NAME, params: { scale: 4 } });
    assert.equal(other.fingerprint, 'mean_baseline(scale=4,over=rows)');
    assert.equal(other.advantage[0], 3);
  });

  test('makes an honest batch ok and a wrong one wrong, with its own variant as the cause', () => {
    const honest = verifyBatch(batchOf(PARAMS));
    assert.deepEqual([honest.ok, honest.exact, honest.fingerprint], [true, 6, FINGERPRINT]);
    const wrong = verifyBatch(batchOf(PARAMS, 2));
    assert.deepEqual([wrong.ok, wrong.wrongRows], [false, [0, 1, 2, 3]]);
    assert.match(wrong.findings[0]!.message, /Likely cause: the factor was omitted\./);
  });

  test('is explained term by term', () => {
    const explanation = explainRow(batchOf(PARAMS, 2), 0);
    assert.deepEqual([explanation.outcome, explanation.true], ['wrong', 0.375]);
    assert.match(formatExplanation(explanation), /mean_baseline\(scale=0\.5.*\(1 - 0\.25\) = 0\.75/s);
  });

  test('keeps its parameters on the wire and in a bundle', () => {
    const batch = batchOf({ ...PARAMS, historyLength: 3 });
    assert.deepEqual(decodeBatch(encodeBatch(batch)).estimator, batch.estimator);
    assert.deepEqual(batch.estimator.others, { historyLength: 3 });
    const origin = {
      experiment: 'e',
      attempt: 1,
      batch: 1,
      step: 1,
      digest: '',
      report: null,
      version: '0',
    };
    const [back] = readBatches(writeBundle(batch, origin), 'bundle');
    assert.deepEqual(back!.estimator, batch.estimator);
  });

  test('is known to the command line', async () => {
    const [honest, wrong] = [join(folder, 'honest.json'), join(folder, 'wrong.json')];
    await writeFile(honest, file(PARAMS));
    await writeFile(wrong, file(PARAMS, 2));
    assert.equal(await verifyFiles([honest], {}, captured().io), 0);
    assert.equal(await verifyFiles([wrong], {}, captured().io), 1);
    const estimated = captured();
    assert.equal(await estimateFile(honest, { params: { scale: 2 } }, estimated.io), 0);
    assert.match(estimated.out(), /estimator: mean_baseline\(scale=2,over=rows\)/);
    const compared = captured();
    assert.equal(await compareFile(honest, { estimators: [NAME, 'grpo'] }, compared.io), 0);
    assert.match(compared.out(), /mean_baseline/);
  });
});

test('the guide shows the example as it is', async () => {
  const root = new URL('../../../../../', import.meta.url);
  const example = await readFile(
    new URL('packages/echelon-verify/test/support/mean-baseline.ts', root),
    'utf8',
  );
  const guide = await readFile(new URL('docs/contributing/add-an-estimator.md', root), 'utf8');
  assert.ok(guide.includes(example.slice(example.indexOf('const PARAMETERS')).trimEnd()));
});
