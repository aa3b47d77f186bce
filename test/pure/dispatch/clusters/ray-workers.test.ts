import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRayWorkers } from '../../../../src/dispatch/clusters/ray-workers.ts';
import type { RayWorkerClient } from '../../../../src/rpc/ray-worker.ts';
import { RayWorkerError } from '../../../../src/rpc/status.ts';
import type { Cluster } from '../../../../src/store/clusters/types.ts';
import { partialStore } from '../../../support/partial-store.ts';
import { clusterRecord } from '../../../support/store.ts';

function cluster(name: string, address: string): Cluster {
  return clusterRecord({ name, address });
}

test('a cluster has one client, which is replaced when the cluster moves and closed when it is removed', async () => {
  let known = [cluster('a', 'h:1')];
  const open = new Set<string>();
  const rayWorkers = createRayWorkers({
    store: partialStore({ clusters: { list: async () => known } }),
    connect: ({ address }) => {
      open.add(address);
      return { close: () => open.delete(address) } as unknown as RayWorkerClient;
    },
  });
  const first = await rayWorkers.of('a');
  assert.equal(await rayWorkers.of('a'), first);
  known = [cluster('a', 'h:2'), cluster('b', 'h:3')];
  rayWorkers.update(known);
  assert.notEqual(await rayWorkers.of('a'), first);
  assert.deepEqual([...open], ['h:2', 'h:3']);
  rayWorkers.update([cluster('b', 'h:3')]);
  assert.deepEqual([...open], ['h:3']);
  known = [];
  await assert.rejects(
    rayWorkers.of('a'),
    (error) => error instanceof RayWorkerError && error.fault === 'unreachable',
  );
  rayWorkers.close();
  assert.equal(open.size, 0);
});
