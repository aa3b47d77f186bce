import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adapterOf } from '../../src/dumps/registry.ts';
import { configured, runsOf } from '../../src/dumps/runs.ts';

/** The folders of runs, each with its files, as `folder: file file`. */
const shown = (adapter: string, files: string[]) =>
  runsOf(adapterOf(adapter), files).map(({ run, files: own }) => `${run}: ${own.join(' ')}`);

test('files of one folder are one run, in the order of their first files', () => {
  assert.deepEqual(shown('trl', ['b/1.parquet', 'a/1.parquet', 'b/2.parquet']), [
    'b: b/1.parquet b/2.parquet',
    'a: a/1.parquet',
  ]);
});

test('a run of slime, prime-rl or AReaL is the folder above those of its kinds, steps or versions', () => {
  const slime = ['d/rollout_data/0.pt', 'd/train_data/0_0.pt', 'e/0.pt'];
  assert.deepEqual(shown('slime', slime), [`d: ${slime[0]} ${slime[1]}`, `e: ${slime[2]}`]);
  const prime = [
    'o/rollouts/step_1/train/all/traces.jsonl',
    'o/rollouts/step_2/train/effective/traces.jsonl',
  ];
  assert.deepEqual(shown('prime-rl', prime), [`o/rollouts: ${prime.join(' ')}`]);
  const areal = ['r/0/a.jsonl', 'r/1/b.jsonl', 's/0/a.jsonl'];
  assert.deepEqual(shown('areal', areal), [`r: ${areal[0]} ${areal[1]}`, `s: ${areal[2]}`]);
});

test('files are split where their configuration changes, and not where only its file does', async () => {
  const find = async (file: string) => ({
    file: `beside ${file}`,
    options: { groupSize: file < 'c' ? 4 : 8 },
    estimator: { unsupported: 'all' },
  });
  const parts = await configured({ find }, ['a', 'b', 'c']);
  assert.deepEqual(
    parts.map(({ found, files }) => [found?.file, files]),
    [
      ['beside a', ['a', 'b']],
      ['beside c', ['c']],
    ],
  );
  assert.deepEqual(await configured({}, ['a', 'b']), [{ found: undefined, files: ['a', 'b'] }]);
});
