import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeChild } from '../../../../src/plan/sweep.ts';
import { childArgument } from '../../../../src/store/sweeps/sweep-children.ts';
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

test('a child is handed over with the limits and labels of its spec, and its differences from the shared documents', () => {
  const input = chainInput([undefined]);
  const child = makeChild(input as unknown as SweepRecord, [...input.entries[0]!]);
  const { submitted, resolved: ownResolved, defaults } = child;
  const shared = { submitted, resolved: ownResolved, defaults };
  const given = (resolved: unknown): Record<string, unknown> =>
    JSON.parse(
      childArgument({ experiment: 'exp-1', fingerprint: null }, { ...child, resolved }, { shared, run: '2' }),
    );
  const { id, name, wanted, timeoutMs, deadlineAt, labels, nodes, patch, run } = given(ownResolved);
  assert.deepEqual([id, name, wanted, patch, run], ['exp-1', 'child 0', '', '[]', '2']);
  assert.deepEqual([timeoutMs, deadlineAt, labels, nodes], ['', '', '', '1']);
  const limits = {
    timeoutSeconds: 1.5,
    tags: ['paper', 'ablation'],
    deadline: '2024-02-29T12:00:00.000Z',
    clusterLabels: { gpu: 'h100' },
    resources: { nodes: 2, nodeLabels: { zone: 'b' } },
  };
  const limited = given(limits);
  assert.deepEqual(
    ['timeoutMs', 'deadlineAt', 'labels', 'nodes', 'nodeLabels', 'tags'].map((field) => limited[field]),
    ['1500', String(Date.UTC(2024, 1, 29, 12)), '{"gpu":"h100"}', '2', '{"zone":"b"}', 'paper\nablation'],
  );
});
