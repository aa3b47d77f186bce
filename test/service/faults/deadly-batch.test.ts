import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredReport } from '../../../src/store/batches/stored-report.ts';
import { allBatches } from '../../support/batches.ts';
import { startBench, until } from '../../support/dispatch.ts';
import { startDispatcherProcess } from '../../support/dispatcher-processes.ts';
import { recordBatch, running } from '../../support/store.ts';

const BATCHES = 4;
const DEADLY = 2;

/* Fails where deaths are not counted: it has no end; and where all that died together is tried together again. */
test('a batch that kills each process that verifies it is given up after three; other batches are verified', async (t) => {
  const bench = await startBench();
  t.after(() => bench.stop());
  const lease = await running(bench.store, { leaseMs: 3_600_000 });
  for (let batch = 1; batch <= BATCHES; batch += 1) {
    await recordBatch(bench.store, lease, { batch, data: Buffer.from([batch]) });
  }
  let died = 0;
  for (; (await bench.store.batches.backlog()) > 0; died += 1) {
    const options = { id: `verifier-${died}`, leaseMs: 300, deadlySteps: [DEADLY] };
    const process = await startDispatcherProcess(bench, t, options);
    const done = until(async () => (await bench.store.batches.backlog()) === 0, 'all have reports').then(
      () => 'done',
    );
    const end = await Promise.race([process.exited, done]);
    if (end === 'done') break;
  }
  assert.equal(died, 3);
  const reports = (await allBatches(bench.store, lease.experiment)).map(
    ({ report }) => report as StoredReport,
  );
  assert.deepEqual(
    reports.map(({ exact }) => exact),
    [4, 0, 4, 4],
  );
  assert.match(JSON.stringify(reports[DEADLY - 1]), /its verifier ended without a report 3 times/);
});
