import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { BatchVerifier } from '../../../src/dispatch/background/verification.ts';
import type { StoredReport } from '../../../src/store/batches/stored-report.ts';
import { type Bench, startBench, until } from '../../support/dispatch.ts';
import { reportOf } from '../../support/report.ts';

/** Finds a wrong row in every batch, once `over` has come. */
function accusing(over: Promise<void>): BatchVerifier {
  return {
    async verify(): Promise<StoredReport> {
      await over;
      const counts = { rows: 4, exact: 3, rounding: 0, wrong: 1, unverifiable: 0 };
      return reportOf({ step: 1, ...counts, errors: ['wrong-rows'], ok: false });
    },
  };
}

describe('rules on a dispatcher', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench();
  });
  after(() => bench.stop());

  const ruleEvents = async (id: string) =>
    (await bench.store.events.read(id, undefined, 100_000)).flatMap(({ event }) =>
      event.type === 'rule' ? [event] : [],
    );

  // Fails where the memory of a rule or its place in the stream is kept by the dispatcher and not in the store.
  test('a rule neither loses its count nor fires twice when the dispatcher is replaced', async () => {
    const first = await bench.dispatcher();
    const marks = { name: 'odd', when: { metric: ['odd/value'], notFinite: true as const } };
    const stops = { name: 'low', when: { metric: ['loss'], below: 0.02 }, for: 20, do: 'stop' as const };
    const id = await bench.submit({ steps: 100_000, delayMs: 15, batchBytes: 50 }, { rules: [marks, stops] });
    await until(async () => (await bench.store.experiments.get(id))?.marks === 1, 'the first rule fired');
    // In the middle of the row of the second: it began with step 51.
    await until(
      async () => ((await bench.store.experiments.get(id))?.progress.step ?? 0) >= 55,
      'the row has begun',
    );
    await first.stop({ handOver: false });
    await bench.dispatcher();
    const record = await bench.reaches(id, 'cancelled');
    assert.equal(record.attempt, 1);
    assert.match(record.reason, /^rule low: loss was 0\.0142857 at step 70 \(.*\); the driver was stopped/);
    assert.equal(record.stoppedBy?.rule, 'low');
    assert.deepEqual(
      (await ruleEvents(id)).map(({ rule, step, evidence }) => [rule, step, evidence.values[0]?.value]),
      [
        ['odd', 1, 'NaN'],
        ['low', 70, 1 / 66],
      ],
    );
    assert.deepEqual(bench.rayWorker.running(), []);
  });

  test('a report after the end marks the experiment, retains the batch, and changes no state', async () => {
    const late = await startBench();
    try {
      const over = Promise.withResolvers<void>();
      await late.dispatcher({ verifier: accusing(over.promise) });
      const rules = [{ preset: 'wrong-rows' as const, do: 'stop' as const }];
      const id = await late.submit({ steps: 2, batchBytes: 50 }, { rules });
      await late.reaches(id, 'succeeded');
      over.resolve();
      const record = await until(
        async () => {
          const now = await late.store.experiments.get(id);
          return now?.marks === 1 ? now : undefined;
        },
        'the rule fired',
        { instead: () => late.store.experiments.get(id) },
      );
      const [fired] = record.rules[0]!.fired;
      assert.match(fired?.reason ?? '', /^rule wrong-rows: wrongRows was 1 at step \d, batch \d/);
      assert.deepEqual(await late.store.rules.keptBatches(id), [`1:${fired?.batch}`]);
      assert.deepEqual([record.state, record.stoppedBy], ['succeeded', null]);
    } finally {
      await late.stop();
    }
  });
});
