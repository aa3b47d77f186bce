import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createRayWorkers } from '../../../src/dispatch/clusters/ray-workers.ts';
import { createRayWorkerClient } from '../../../src/rpc/client.ts';
import { RayWorkerError } from '../../../src/rpc/status.ts';
import type { Cluster } from '../../../src/store/clusters/types.ts';
import { partialStore } from '../../support/partial-store.ts';
import { startPythonRayWorker } from '../../support/python-ray-worker.ts';

/** A call of a client that is refused since the ray-worker has another owner, as the error says. */
const belongsTo = (owner: RegExp) => (error: unknown) =>
  error instanceof RayWorkerError && error.fault === 'denied' && owner.test(error.message);

test('a ray-worker under two names, or of two installations, has one owner until that releases it', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-owner-'));
  const { address, token, stop } = await startPythonRayWorker(directory);
  t.after(async () => {
    await stop();
    await rm(directory, { recursive: true, force: true });
  });
  const clusters = ['a', 'b'].map((name) => ({ name, address, token, ca: null })) as Cluster[];
  const describe = async (installation: string | undefined, cluster: string) => {
    const rayWorkers = createRayWorkers({
      store: partialStore({ clusters: { list: async () => clusters } }),
      installation,
    });
    try {
      return await (await rayWorkers.of(cluster)).describe();
    } finally {
      rayWorkers.close();
    }
  };
  await describe('one', 'a');
  await describe('one', 'a');
  await assert.rejects(describe('one', 'b'), belongsTo(/belongs to this installation as cluster a/));
  await assert.rejects(
    describe('two', 'a'),
    belongsTo(/belongs to installation one as cluster a.*delete the file/),
  );
  await describe(undefined, 'a');
  const leaving = createRayWorkerClient({ address, token, ca: null, owner: 'one/a', release: true });
  await leaving.describe();
  leaving.close();
  // The refresh of another dispatcher was under way.
  await describe('one', 'a');
  await describe('two', 'a');
});
