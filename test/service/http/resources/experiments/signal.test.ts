import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { verifyBatch } from '../../../../../packages/echelon-verify/src/verify/verify-batch.ts';
import { randomBatch, randomFrom } from '../../../../../packages/echelon-verify/test/support/random-batch.ts';
import { apiFor, keptOutput, runProgram } from '../../../../support/cli.ts';
import { recordBatch, running } from '../../../../support/store.ts';

const { store, client, connection } = await apiFor({ after });

test('the description of each batch makes curves over the steps, in the API and on the command line', async () => {
  const lease = await running(store);
  const path = { id: lease.experiment };
  for (let batch = 1; batch <= 3; batch++) await recordBatch(store, lease, { batch, data: Buffer.from('b') });
  const verified = verifyBatch(randomBatch(randomFrom(7), { name: 'gigpo' }));
  const signal = verified.diagnosis!.signal!;
  for (const batch of [2, 1]) {
    const record = (await store.batches.get(lease.experiment, 1, batch))!;
    const counts = { rows: verified.rows, exact: verified.rows, rounding: 0, wrong: 0, unverifiable: 0 };
    const event = { type: 'verification', attempt: 1, batch, step: record.step, ...counts } as const;
    await store.batches.report(
      record,
      { ...event, errors: [], ok: true },
      batch === 2 ? verified : { ...verified, diagnosis: undefined },
    );
  }
  const { items, next } = await client.get('/v1/experiments/{id}/signal', { path });
  assert.deepEqual([items.length, items[0]?.batch, next], [1, 2, null]);
  const { values } = items[0]!;
  assert.equal(values['effective trajectories'], signal.effectiveTrajectories);
  assert.equal(values['adjusted R² of observation'], signal.keys[0]!.adjusted ?? undefined);
  assert.equal(values['groups without success'], signal.shares.groupWithoutGoal ?? undefined);

  const output = keptOutput();
  await runProgram(output, ['signal', lease.experiment, ...connection]);
  const text = output.lines.join('\n');
  assert.match(text, /^describes the signal, does not predict success\nSTEP +\d/);
  assert.match(
    text,
    new RegExp(
      `effective trajectories +${signal.effectiveTrajectories.toFixed(signal.effectiveTrajectories < 10 ? 2 : 1)}`,
    ),
  );
});
