import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { allBatches } from '../../support/batches.ts';
import { startBench, until } from '../../support/dispatch.ts';
import { LEASE_MS, spawnPart } from '../../support/dispatcher-processes.ts';

const OWN_MOUNTS = ['unshare', '--mount', '--propagation', 'private'];
const missing =
  spawnSync(OWN_MOUNTS[0]!, [...OWN_MOUNTS.slice(1), 'true']).status !== 0 &&
  'no mount namespace can be made here';

// Fails where a batch that cannot be stored ends its attempt, or holds up other experiments.
test('a full archive delays the events of a large batch until it has room, and nothing else', {
  skip: missing,
}, async (t) => {
  const bench = await startBench();
  t.after(() => bench.stop());
  const archive = join(bench.directory, 'archive');
  await mkdir(archive);
  const fill = `mount -t tmpfs -o size=8m tmpfs ${archive} && { head -c 9m /dev/zero > ${archive}/filler; exec "$@"; }`;
  const dispatcher = spawnPart(t, {
    script: 'dispatcher-process.ts',
    name: 'dispatcher',
    wrapper: [...OWN_MOUNTS, 'sh', '-c', fill, 'sh'],
    setup: { url: bench.server.url, archive, id: 'd1', leaseMs: LEASE_MS, deadlySteps: [] },
  });
  await dispatcher.says('ready');

  const large = await bench.submit({ steps: 3, batchBytes: 100_000 });
  // Its fourth event is the batch of the first step.
  await until(() => bench.rayWorker.sent(large, 1) >= 4, 'the batch was sent');
  const small = await bench.submit({ steps: 3, batchBytes: 100 });
  await bench.reaches(small, 'succeeded');
  assert.equal((await bench.store.experiments.get(large))?.state, 'running');
  assert.ok((await bench.store.attempts.list(large))[0]!.lastSequence < 4, 'no event overtakes the batch');

  await rm(`/proc/${dispatcher.pid}/root${archive}/filler`);
  await bench.comes(
    large,
    'is verified',
    ({ state, verification }) => state === 'succeeded' && verification.status === 'complete',
  );
  assert.equal((await bench.store.attempts.list(large)).length, 1);
  const reports = (await allBatches(bench.store, large)).map(({ report }) => report !== null);
  assert.deepEqual(reports, [true, true, true]);
});
