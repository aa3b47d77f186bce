import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareFile } from '../../src/cli/compare-file.ts';
import { captured } from '../support/captured.ts';

const FILE = 'test/golden/hgpo-large.json.gz';

test('compares estimators with the batch’s own', async () => {
  const streams = captured();
  assert.equal(await compareFile(FILE, { estimators: ['hgpo', 'gigpo', 'grpo'] }, streams.io), 0);
  assert.match(streams.out(), /alfworld-scale, 4621 rows, compared with hgpo\(K=2,/);
  assert.match(streams.out(), /hgpo +0\.0000 +0\.0000 +0 +1\.0000 +0 +0/);
  assert.match(streams.out(), /gigpo\(mean_std_norm/);
});

test('as JSON, and for one batch by name', async () => {
  const streams = captured();
  const options = { estimators: ['grpo'], batch: 'penalties', json: true } as const;
  assert.equal(await compareFile('test/golden/hgpo.json', options, streams.io), 0);
  const { batches } = JSON.parse(streams.out()) as { batches: { batch: string; differences: object[] }[] };
  assert.deepEqual([batches[0]!.batch, batches[0]!.differences.length], ['penalties', 1]);
  assert.equal(
    await compareFile('test/golden/hgpo.json', { estimators: ['grpo'], batch: 'x' }, streams.io),
    2,
  );
});
