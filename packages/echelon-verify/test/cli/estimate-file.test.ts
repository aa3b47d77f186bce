import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateFile } from '../../src/cli/estimate-file.ts';
import { estimate } from '../../src/identify/estimate.ts';
import { captured } from '../support/captured.ts';
import { goldenBatch } from '../support/golden-batches.ts';

const FILE = 'test/golden/hgpo.json';

test('estimates by another estimator, as JSON with every advantage', async () => {
  const streams = captured();
  const options = { estimator: 'gigpo', batch: 'penalties', json: true } as const;
  assert.equal(await estimateFile(FILE, options, streams.io), 0);
  const { batches } = JSON.parse(streams.out()) as {
    batches: { fingerprint: string; advantage: number[] }[];
  };
  const expected = estimate(goldenBatch('penalties'), { name: 'gigpo' });
  assert.equal(batches[0]!.fingerprint, expected.fingerprint);
  assert.deepEqual(batches[0]!.advantage, [...expected.advantage]);
});

test('in words: how the advantages lie, for all batches', async () => {
  const streams = captured();
  assert.equal(await estimateFile(FILE, { params: { historyLength: 1 } }, streams.io), 0);
  assert.match(streams.out(), /late-n7 +238 +0\.0000 +0\.0000 +0\.0000 +100\.0 %/);
  assert.match(streams.out(), /estimator: hgpo\(K=1,/);
});

test('what is rounded to nothing has no sign', async () => {
  const streams = captured();
  await estimateFile(FILE, { batch: 'walk-K0-mean_norm-base0' }, streams.io);
  assert.match(streams.out(), /-5\.2911 +0\.0000 +7\.6000/);
});

test('a parameter that the estimator does not have is refused, not ignored', async () => {
  const streams = captured();
  const options = { estimator: 'grpo', params: { historyLength: 3 } } as const;
  assert.equal(await estimateFile(FILE, options, streams.io), 2);
  assert.equal(streams.out(), '');
  assert.match(streams.err(), /--param historyLength is a parameter of hgpo, not of grpo/);
});

test('an unreadable file is status 2', async () => {
  const streams = captured();
  assert.equal(await estimateFile('package.json', { estimator: 'grpo' }, streams.io), 2);
  assert.match(streams.err(), /package\.json/);
});
