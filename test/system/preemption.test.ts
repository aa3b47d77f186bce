import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseEntryId } from '../../src/core/ids.ts';
import { isFinal } from '../../src/core/states.ts';
import { assertWhole, historyOf } from '../support/history.ts';
import { lastMetrics } from '../support/scripted-agent.ts';
import { type System, startSystem } from '../support/system.ts';

let system: System;
before(async () => {
  system = await startSystem();
  await system.startDispatcher();
});
after(() => system?.stop());

test('on a real Ray, a preempted training continues from its checkpoint and ends as one that was not preempted', async () => {
  const steps = 24;
  const training = { steps, saveEvery: 3 };
  const common = { engine: 'local', rollout: { groups: 2, groupSize: 4 }, evaluation: { games: 5 } };
  const estimator = { name: 'hgpo', historyLength: 2 };
  const ended = (id: string) =>
    system.until(
      id,
      'the end',
      ({ state, verification }) => isFinal(state) && verification.status === 'complete',
      240_000,
    );
  await system.client.patch('/v1/projects/{name}', {
    path: { name: 'default' },
    body: { urgentGpuQuota: 1 },
  });
  const first = await system.submit({ ...common, estimator, name: 'alone', training });
  const alone = await ended(first.id);
  assert.equal(alone.state, 'succeeded', alone.reason);
  const { clusters } = await system.client.get('/v1/queues', {});
  const cpus = clusters[0]!.nodes[0]!.cpusTotal;

  const batch = await system.submit({
    ...{ ...common, estimator, training, name: 'batch', priorityClass: 'batch', maxAttempts: 1 },
    resources: { cpus },
  });
  await system.until(batch.id, 'a checkpoint', ({ checkpoint }) => checkpoint !== null, 120_000);
  const urgent = await system.submit({
    ...{ ...common, estimator, name: 'urgent', priorityClass: 'urgent' },
    training: { steps: 2 },
  });
  const [now, then] = [await ended(urgent.id), await ended(batch.id)];
  assert.deepEqual([now.state, now.attempt], ['succeeded', 1], now.reason);
  assert.deepEqual([then.state, then.attempt, then.progress.step], ['succeeded', 2, steps], then.reason);

  const history = await historyOf(system.client, batch.id);
  assertWhole(history);
  assert.equal(history.filter(({ event }) => event.type === 'preemption').length, 1);
  const stepsOf = (attempt: number, type: 'metrics' | 'checkpoint') =>
    history.flatMap(({ id, event }) =>
      event.type === type && parseEntryId(id)!.attempt === attempt ? [(event as { step: number }).step] : [],
    );
  const saved = stepsOf(1, 'checkpoint').at(-1)!;
  const repeated = stepsOf(1, 'metrics').filter((step) => step > saved);
  assert.equal(
    stepsOf(2, 'metrics').find((step) => step > 0),
    saved + 1,
  );
  assert.ok(repeated.length < training.saveEvery, `${repeated} were repeated`);
  console.log(`checkpoint of step ${saved}, ${repeated.length} steps repeated`);
  assert.deepEqual(await lastMetrics(system.client, batch.id), await lastMetrics(system.client, alone.id));
});
