import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeChild } from '../../../../src/plan/sweep.ts';
import { childArguments } from '../../../../src/store/sweeps/sweep-children.ts';
import type { SweepRecord } from '../../../../src/store/sweeps/types.ts';
import { storeFor } from '../../../support/store.ts';
import { chainInput, sweepInput, sweepRequest } from '../../../support/sweep.ts';

test('children say what they wait for; those of a sweep without waiting ones wait for nothing', async (t) => {
  const { store } = await storeFor(t);
  const waits = async (id: string) => {
    const sweep = (await store.sweeps.get(id))!;
    return (await store.sweeps.children(sweep, 0, 10)).map(({ after }) => after);
  };
  const chain = await store.sweeps.create(chainInput([undefined, 0, 0, undefined]));
  assert.deepEqual(await waits(chain.id), [null, null, 0, 0]);
  assert.deepEqual(await waits((await store.sweeps.create(sweepInput(sweepRequest(2)))).id), [null, null]);
});

test('a child is handed over field by field, with the limits and labels of its spec', () => {
  const input = chainInput([undefined]);
  const child = makeChild(input as unknown as SweepRecord, [...input.entries[0]!]);
  const given = childArguments('exp-1', child, null);
  assert.deepEqual([given[0], given[1], given[3]], ['exp-1', 'child 0', '']);
  assert.deepEqual(given.slice(-8), ['', '', '', '', 1, '', '', '']);
  const resolved = {
    timeoutSeconds: 1.5,
    tags: ['paper', 'ablation'],
    deadline: '2024-02-29T12:00:00.000Z',
    clusterLabels: { gpu: 'h100' },
    resources: { nodes: 2, nodeLabels: { zone: 'b' } },
  };
  const limited = childArguments('exp-1', { ...child, resolved }, null);
  assert.deepEqual(limited.slice(-7), [
    1500,
    Date.UTC(2024, 1, 29, 12),
    '{"gpu":"h100"}',
    2,
    '{"zone":"b"}',
    'paper\nablation',
    '',
  ]);
});
