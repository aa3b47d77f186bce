import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { decodeBatch, encodeBatch } from '../../src/format/batch-wire.ts';
import { type BundleOrigin, readBundleHead, reportDigest, writeBundle } from '../../src/format/bundle.ts';
import { readBatchFile } from '../../src/format/read.ts';
import { readBatches } from '../../src/format/read-batch.ts';
import { verifyBatch } from '../../src/verify/verify-batch.ts';
import { REWARDS, sampleFile } from '../sample-batch.ts';
import { allGoldenBatches, goldenBatch } from '../support/golden-batches.ts';

const ORIGIN: BundleOrigin = {
  ...{ experiment: 'exp-1', attempt: 1, batch: 2, step: 2, digest: 'ab', report: null, version: '1.2.3' },
};

describe('a bundle', () => {
  // Fails if any column, parameter or statement of provenance is omitted.
  test('gives the same report as the recorded batch, for every golden batch', () => {
    for (const golden of allGoldenBatches()) {
      for (const texts of [true, false]) {
        const recorded = decodeBatch(encodeBatch(golden, { texts }));
        const read = readBatchFile(writeBundle(recorded, ORIGIN), 'bundle.json.gz');
        assert.equal(read.length, 1);
        assert.equal(reportDigest(verifyBatch(read[0]!)), reportDigest(verifyBatch(recorded)), golden.name);
      }
    }
  });

  test('keeps the texts of actions', () => {
    const [batch] = readBatches(sampleFile({ actionIndex: [1, 0, 0, 1], actions: ['go left', '"'] }), 'f');
    const [read] = readBatchFile(writeBundle(batch!, ORIGIN), 'bundle.json.gz');
    assert.deepEqual(
      [[...read!.action!], read!.actionTexts],
      [
        [1, 0, 0, 1],
        ['go left', '"'],
      ],
    );
  });

  test('keeps the columns of the reward functions with their weights', () => {
    const [batch] = readBatches(sampleFile(REWARDS), 'f');
    const [read] = readBatchFile(writeBundle(batch!, ORIGIN), 'bundle.json.gz');
    assert.equal(read!.rewards?.length, 2);
    assert.deepEqual(read!.rewards, batch!.rewards);
  });

  test('keeps what JSON has no word for: NaN, infinities, minus zero, long integers', () => {
    const strange = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0];
    const numbers = [1e20, 2 ** 60, -(2 ** 70), 0.1 + 0.2];
    const [sample] = readBatches(sampleFile(), 'f');
    const batch = {
      ...sample!,
      reward: Float64Array.from(numbers),
      tokenLevelRewardSum: Float64Array.from(strange),
    };
    const [back] = readBatchFile(writeBundle(batch, ORIGIN), 'f');
    assert.ok(Array.from(back!.reward!).every((value, row) => Object.is(value, numbers[row])));
    assert.ok(Array.from(back!.tokenLevelRewardSum!).every((value, row) => Object.is(value, strange[row])));
  });

  test('keeps two groups of one name apart, and observations that are no JSON', () => {
    const [sample] = readBatches(sampleFile(), 'f');
    const batch = {
      ...sample!,
      group: Int32Array.from([0, 0, 1, 1]),
      groupNames: ['g', 'g'],
      dictionary: { count: 2, texts: ['not json', '12345678901234567890'] },
    };
    const [back] = readBatchFile(writeBundle(batch, ORIGIN), 'f');
    assert.deepEqual(Array.from(back!.group), [0, 0, 1, 1]);
    assert.deepEqual(Array.from(back!.observation!), Array.from(batch.observation!));
  });

  test('only a bundle has a head', () => {
    const [sample] = readBatches(sampleFile(), 'f');
    const head = readBundleHead(writeBundle(sample!, { ...ORIGIN, experiment: 'ü,\n"batches":' }), 'f');
    assert.deepEqual([head?.experiment, head?.batch, head?.reportDigest], ['ü,\n"batches":', 2, null]);
    assert.equal(readBundleHead(sampleFile(), 'f'), undefined);
    assert.equal(readBundleHead(gzipSync(sampleFile()), 'f'), undefined);
    assert.equal(readBundleHead(gzipSync('{"format":"echelon-batch/1",\n"bundle":oh'), 'f'), undefined);
  });

  test('a bundle states its origin and its report', () => {
    const batch = decodeBatch(encodeBatch(goldenBatch('alfworld-scale')));
    const report = verifyBatch(batch);
    const text = gunzipSync(writeBundle(batch, { ...ORIGIN, report })).toString();
    const { format, bundle } = JSON.parse(text) as { format: string; bundle: Record<string, unknown> };
    assert.equal(format, 'echelon-batch/1');
    assert.equal(bundle.format, 'echelon-bundle/1');
    assert.equal(bundle.reportDigest, reportDigest(report));
    assert.deepEqual([bundle.experiment, bundle.digest, bundle.version], ['exp-1', 'ab', '1.2.3']);
    assert.match(String(bundle.fingerprint), /^hgpo\(/);
  });
});

test("a report's digest does not depend on the order of its keys", () => {
  assert.equal(reportDigest({ a: 1, b: { c: 2, d: [3] } }), reportDigest({ b: { d: [3], c: 2 }, a: 1 }));
  assert.notEqual(reportDigest({ a: 1 }), reportDigest({ a: 2 }));
});
