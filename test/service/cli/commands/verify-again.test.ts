import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { toVerificationEvent } from '../../../../src/dispatch/background/verification.ts';
import { unverifiableReport } from '../../../../src/store/batches/stored-report.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { recordBatch, running } from '../../../support/store.ts';

const { store, connection } = await apiFor({ after });

/* Fails if the batch keeps its first report for good. */
test('verify of an experiment makes the batches pending again that could not be verified, and a good report replaces theirs', async () => {
  const lease = await running(store);
  const { experiment } = lease;
  for (const batch of [1, 2]) await recordBatch(store, lease, { batch, data: Buffer.from(`batch ${batch}`) });
  const holder = { holder: 'v', leaseMs: 60_000 };
  const [bad, good] = await store.batches.takePending(2, holder);
  const unread = unverifiableReport(bad!, new Error('the archive does not have it'));
  const whole = { ...unread, exact: 4, unverifiable: 0, findings: [], ok: true };
  await store.batches.report(bad!, toVerificationEvent(bad!, unread), unread);
  await store.batches.report(good!, toVerificationEvent(good!, whole), whole);
  assert.equal(await store.batches.backlog(), 0);

  const output = keptOutput();
  const command = ['verify', experiment, ...connection];
  assert.equal((await runProgram(output, command)).exitCode, 0);
  assert.deepEqual(output.lines, [`1 batch of ${experiment} will be verified again`]);
  const [again, ...others] = await store.batches.takePending(2, holder);
  assert.deepEqual([again?.batch, others], [bad!.batch, []]);
  assert.equal(await store.batches.beginPending(again!, holder), true);
  assert.equal(await store.batches.report(again!, toVerificationEvent(again!, whole), whole), 'replaced');
  const { verification } = (await store.experiments.get(experiment))!;
  assert.deepEqual([verification.exact, verification.unverifiable, verification.errors], [8, 0, 0]);
});
