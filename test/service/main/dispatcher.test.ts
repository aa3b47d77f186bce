import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings } from '../../../src/config/settings.ts';
import { newCommandId } from '../../../src/core/ids.ts';
import { startDispatcher } from '../../../src/main/dispatcher.ts';
import { createDeliveriesQueue } from '../../../src/queue/deliveries-queue.ts';
import { createExperimentsQueue } from '../../../src/queue/experiments-queue.ts';
import { isCommandOver } from '../../../src/schemas/clusters.ts';
import { AGREEING, QUIET, until } from '../../support/dispatch.ts';
import { storeFor } from '../../support/store.ts';

test('a dispatcher runs queued work until its resources are released', async (t) => {
  const { store, redis } = await storeFor(t);
  await using queues = new AsyncDisposableStack();
  const queue = createExperimentsQueue({
    redis,
    prefix: '{echelon}',
    onError: () => {},
    statesOf: store.queue.states,
  });
  queues.defer(() => queue.close());
  const deliveries = createDeliveriesQueue({ redis, prefix: '{echelon}', onError: () => {} });
  queues.defer(() => deliveries.close());
  await using resources = new AsyncDisposableStack();
  const stats = await startDispatcher({
    store,
    queue,
    resources,
    log: QUIET,
    verifier: AGREEING as never,
    metrics: { verified: () => {} },
    deliveries,
    settings: { ...loadSettings({}), leaseMs: 1000 },
  });
  assert.deepEqual(stats(), { attempts: 0, verifying: 0, commands: 0, cutOff: 0 });
  const id = newCommandId();
  await store.commands.create({ id, cluster: 'absent', kind: 'drain', request: {}, secret: null });
  const command = await until(async () => {
    const found = await store.commands.get(id);
    return found && isCommandOver(found) && found;
  }, 'the command is over');
  assert.equal(command.state, 'failed');
  await resources.disposeAsync();
});
