import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newProject } from '../../../../src/schemas/project.ts';
import { snapshotFrom } from '../../../support/queue.ts';
import { claimed, storeFor, submitInput } from '../../../support/store.ts';

const CLUSTER = {
  name: 'local',
  address: 'a:1',
  token: 't',
  ca: null,
  backfill: false,
  generation: null,
  lastSeenAt: null,
};
const NODE = { id: 'n', cpusTotal: 4, gpusTotal: 1, cpusUsed: 0, gpusUsed: 0 };
const SEEN = { address: 'a:1', generation: 'g', lastSeenAt: 5, nodes: [NODE] };

test('one step says what its parts say', async (t) => {
  const { store } = await storeFor(t);
  const snapshot = async (limit: number) => ({ ...(await store.queue.snapshot(limit)), now: 0 });
  assert.deepEqual(await snapshot(5), await snapshotFrom(store, () => 0)(5), 'of an empty store');
  await store.projects.create(newProject({ name: 'p', gpuQuota: 3 }, 1));
  await store.clusters.put({ ...CLUSTER, nodes: [] });
  await store.clusters.put({ ...CLUSTER, name: 'other', nodes: [] });
  await store.clusters.see('local', SEEN);
  await store.clusters.set('local', { labels: { zone: 'a' }, backfill: true });
  await store.clusters.setDraining('other', true);
  await store.queue.setPaused({ kind: 'project', name: 'p' }, { by: 'ann', at: 5, reason: 'upgrade' });
  const { id } = await store.experiments.submit(submitInput());
  for (const [at, project] of ['p', 'default', 'p', 'default', 'p'].entries())
    await store.experiments.submit(
      submitInput({ project, priority: at % 3, cluster: at === 2 ? 'local' : null }),
    );
  await claimed(store, id);
  const first = (await store.queue.ids(1))[0]!;
  const estimate = { startAt: 3, earliest: 2, latest: 4 };
  await store.queue.note(new Map([[first, { reason: 'needs 1 GPU', rank: 1, estimate }]]));

  for (const perProject of [1, 2, 100]) {
    const all = await snapshot(perProject);
    assert.deepEqual(all, await snapshotFrom(store, () => 0)(perProject));
    assert.deepEqual(
      [...all.window.truncated].sort(),
      perProject < 2 ? ['default', 'p'] : perProject < 3 ? ['p'] : [],
    );
  }
  const { allocations, window, projectVersions } = await store.queue.snapshot(100);
  assert.equal(allocations.get('local')?.items[0]?.experiment, id);
  assert.deepEqual([window.queued.length, projectVersions.get('default')], [5, 1]);
});

// Fails where the step answers for all of a long line: it would hold up the server.
test('a long window is read after the rest', async (t) => {
  const { store, redis } = await storeFor(t);
  const commands = redis as unknown as Record<string, (...args: unknown[]) => Promise<unknown[][]>>;
  const snapshot = commands['echelon:snapshot']!.bind(redis);
  let rows: unknown[] | undefined;
  commands['echelon:snapshot'] = async (...args) => {
    const reply = await snapshot(...args);
    rows = reply.at(-1);
    return reply;
  };
  await Promise.all(Array.from({ length: 1_030 }, () => store.experiments.submit(submitInput())));
  const { queued } = (await store.queue.snapshot(2_000)).window;
  assert.deepEqual(rows, []);
  assert.equal(queued.length, 1_030);
  assert.deepEqual(queued, (await store.queue.window(2_000)).queued);
});
