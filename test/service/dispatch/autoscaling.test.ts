import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startBench, until } from '../../support/dispatch.ts';

const bench = await startBench({ cpus: 2 });
after(() => bench.stop());
await bench.dispatcher();
await bench.store.clusters.set('fake', { nodeTypes: [{ gpus: 4, cpus: 16, max: 2 }] });

test('the autoscaler is asked for the node that a queued experiment needs, until the experiment has ended', async () => {
  const id = await bench.submit({ steps: 1 }, { gpus: 4, cpus: 4 });
  const asked = () => JSON.stringify(bench.rayWorker.asked);
  const wanted = JSON.stringify([{ gpus: 4, cpus: 16, count: 1 }]);
  await until(() => asked() === wanted, 'the ray-worker gets the request');
  const reason = async () => (await bench.store.queue.first(1))[0]?.reason ?? '';
  await until(
    async () => /; asked the autoscaler for 1 node of 4 GPUs, /.test(await reason()),
    'a wait reason',
  );
  await bench.store.experiments.cancel(id, 'a test');
  await until(() => asked() === '[]', 'the request is withdrawn');
});

test('an experiment for a node that is away keeps waiting, and one for a larger node can never fit', async () => {
  await bench.store.clusters.set('fake', { nodeTypes: null });
  const away = [{ id: 'gone', gpusTotal: 2, cpusTotal: 8, since: Date.now() }];
  const [cluster] = await bench.store.clusters.list(['fake']);
  await bench.store.clusters.see('fake', { ...cluster!, generation: 'g1', away });
  const ids = [
    await bench.submit({ steps: 1 }, { gpus: 2, cpus: 2 }),
    await bench.submit({ steps: 1 }, { gpus: 3, cpus: 2 }),
  ];
  const reasons = async () => {
    const queued = await bench.store.queue.first(2);
    return (
      queued.length === 2 &&
      queued.every(({ reason }) => reason !== null) &&
      queued.map(({ reason }) => reason!)
    );
  };
  const [small, large] = (await until(reasons, 'wait reasons')) as string[];
  assert.match(small!, /^needs 2 GPUs /);
  assert.match(large!, /^can never fit: needs 3 GPUs .* at most 2 GPUs/);
  for (const id of ids) await bench.store.experiments.cancel(id, 'a test');
});
