import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { PRIME_RL } from '../../src/dumps/prime-rl.ts';
import { adapterFor } from '../../src/dumps/registry.ts';
import { verifyDump } from '../../src/verify/verify-dump.ts';
import { type Folder, folder, jsonLines, stepsOf } from '../support/dump-files.ts';

/** An episode in the documented layout (synthetic). */
const episode = (id: number, group: string, score: number, advantage?: number, more = {}) => ({
  id: `episode-${id}`,
  group: { id: group },
  errors: [],
  traces: [
    {
      id: `trace-${id}`,
      rewards: { answer: { score, weight: 1 }, shown: { score: 5, weight: 0 } },
      agent: { name: 'solver', trainable: true },
      nodes: [{ message: 'text', token_ids: [1], mask: [1], advantages: null }],
      info: advantage === undefined ? {} : { advantage },
    },
  ],
  ...more,
});

async function write(dir: Folder, step: number, part: string, episodes: unknown[]): Promise<string> {
  const path = join(dir.path, `step_${step}/train/${part}/traces.jsonl`);
  await mkdir(dirname(path), { recursive: true });
  return await dir.write(`step_${step}/train/${part}/traces.jsonl`, jsonLines(episodes));
}

const verified = (files: string[]) => Array.fromAsync(verifyDump(PRIME_RL, files));

test('rewards of all episodes meet advantages of the trained, over the files of several steps', async () => {
  await using dir = await folder();
  const files = [
    await write(dir, 1, 'all', [
      episode(1, 'a', 1),
      episode(2, 'a', 0),
      episode(3, 'b', 1),
      episode(4, 'b', 1),
    ]),
    await write(dir, 1, 'effective', [episode(1, 'a', 1, 2 / 3)]),
    await write(dir, 2, 'all', [episode(5, 'a', 0), episode(6, 'a', 9, undefined, { errors: ['cut off'] })]),
    await write(dir, 2, 'effective', [episode(2, 'a', 0, -1 / 3), episode(5, 'a', 0, -1 / 3)]),
  ];
  assert.equal(await adapterFor(files[0]!), PRIME_RL);
  const steps = await stepsOf(PRIME_RL, files);
  assert.deepEqual(
    steps.map(({ name, group, reward }) => [name, group.names, [...reward]]),
    [
      ['step 1', ['b/solver'], [1, 1]],
      ['step 2', ['a/solver'], [1, 0, 0]],
    ],
  );
  for (const { wrong, consistent, configuration } of await verified(files)) {
    assert.deepEqual([wrong, consistent], [0, true]);
    assert.match(configuration.fingerprint!, /^grpo\(std=none/);
  }
});

test('a group with a response that was not trained is not verified, and said so', async () => {
  await using dir = await folder();
  const files = [
    await write(dir, 1, 'all', [
      episode(1, 'a', 1),
      episode(2, 'a', 0),
      episode(3, 'b', 1),
      episode(4, 'b', 0),
    ]),
    await write(dir, 1, 'effective', [
      episode(1, 'a', 1, 0.5),
      episode(2, 'a', 0, -0.5),
      episode(3, 'b', 1, 0.5),
    ]),
  ];
  const [report] = await verified(files);
  assert.deepEqual([report!.rows, report!.wrong], [2, 0]);
  assert.ok(report!.findings.some(({ code }) => code === 'groups-untrained'));
});

test('a wrong advantage is found', async () => {
  await using dir = await folder();
  const both = (a: number) => [episode(1, 'a', 1, a), episode(2, 'a', 0, -0.5)];
  const files = [await write(dir, 1, 'all', both(0.5)), await write(dir, 1, 'effective', both(0.7))];
  const [report] = await Array.fromAsync(
    verifyDump(PRIME_RL, files, { estimator: 'grpo', params: { normalizeByStd: false } }),
  );
  assert.deepEqual(report!.wrongRows, [0]);
});

test('a trace id that a file holds twice, and a trace without ids, are refused with their record', async () => {
  await using dir = await folder();
  const twice = [episode(1, 'a', 1), episode(2, 'a', 0), episode(1, 'b', 0)];
  await assert.rejects(
    stepsOf(PRIME_RL, [await write(dir, 1, 'all', twice)]),
    /field record 3: expected one trace for each id, found another trace "trace-1"/,
  );
  const nameless = [episode(1, 'a', 1, undefined, { group: {} })];
  await assert.rejects(stepsOf(PRIME_RL, [await write(dir, 1, 'all', nameless)]), /a group with an id/);
  const traces = [{ rewards: {}, nodes: [] }];
  const unnumbered = [episode(1, 'a', 1, undefined, { id: undefined, traces })];
  await assert.rejects(stepsOf(PRIME_RL, [await write(dir, 1, 'all', unnumbered)]), /an id of the trace/);
});
