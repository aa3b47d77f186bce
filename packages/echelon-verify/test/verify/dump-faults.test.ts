/** Every fault that trainers have, in every format with advantages: found, and nothing is found in a run without a fault. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DumpAdapter, DumpStep } from '../../src/dumps/adapter.ts';
import { batchOf, namesOf } from '../../src/dumps/dump-batch.ts';
import { adapterFor, adapterOf } from '../../src/dumps/registry.ts';
import type { Batch } from '../../src/format/batch.ts';
import { estimate } from '../../src/identify/estimate.ts';
import {
  type DumpReport,
  type StatedDump,
  verifyDump,
  withRowsCompared,
} from '../../src/verify/verify-dump.ts';
import { DUMPS, folder, planted } from '../support/dump-files.ts';
import { goldenRun, rowsOf, WRITERS, type WrittenStep } from '../support/dump-writers.ts';

/** The form that a run is of, what the caller says of the columns, and parameters of another trainer's form. */
interface Run {
  readonly form: string;
  readonly options?: StatedDump;
  readonly deviation: Record<string, string | boolean>;
}

const RUNS: Readonly<Record<string, Run>> = {
  'ms-swift': {
    form: 'ms-swift/grpo',
    deviation: { deviation: 'population' },
  },
  'nemo-rl': { form: 'nemo-rl/grpo', deviation: { deviation: 'population' } },
  slime: { form: 'slime/grpo', deviation: { deviation: 'population' } },
  'prime-rl': { form: 'prime-rl/grpo', deviation: { normalizeByStd: true } },
  table: { form: 'verl/grpo', options: { map: { step: 'step' } }, deviation: { deviation: 'population' } },
};

type Fault = (batch: Batch, run: Run) => WrittenStep;

/** Rows of other groups, as advantages were computed. */
const mixedGroups = (batch: Batch): Batch => ({ ...batch, group: batch.group.map((_, row) => row % 6) });

const FAULTS: Readonly<Record<string, Fault>> = {
  'another deviation': (batch, { deviation }) => rowsOf(batch, deviation),
  'another epsilon': (batch, { deviation }) =>
    rowsOf(batch, 'normalizeByStd' in deviation ? { ...deviation, epsilon: 0.3 } : { epsilon: 0.01 }),
  'two rows swapped': (batch) => {
    const rows = [...rowsOf(batch)];
    const best = rows.reduce((at, { advantage }, row) => (advantage > rows[at]!.advantage ? row : at), 0);
    const worst = rows.reduce((at, { advantage }, row) => (advantage < rows[at]!.advantage ? row : at), 0);
    const [a, b] = [rows[best]!, rows[worst]!];
    rows[best] = { ...a, advantage: b.advantage };
    rows[worst] = { ...b, advantage: a.advantage };
    return rows;
  },
  'groups mixed': (batch) => {
    const mixed = rowsOf(mixedGroups(batch), {});
    return rowsOf(batch).map((row, at) => ({ ...row, advantage: mixed[at]!.advantage }));
  },
  clipped: (batch) =>
    rowsOf(batch).map((row) => ({ ...row, advantage: Math.max(-0.2, Math.min(0.2, row.advantage)) })),
  'all zero': (batch) => rowsOf(batch).map((row) => ({ ...row, advantage: 0 })),
  'evaluation rows': (batch) => [
    ...rowsOf(batch),
    ...[1, 0, 0, 1].map((reward) => ({ group: 99, reward, advantage: 0 })),
  ],
  'a group dropped': (batch) => rowsOf(batch).filter(({ group }) => group !== 2),
};

async function reportsOf(
  name: string,
  steps: readonly WrittenStep[],
  stated: StatedDump,
): Promise<DumpReport[]> {
  await using dir = await folder();
  const files = await WRITERS[name]!(dir, steps);
  assert.equal(await adapterFor(files[0]!), adapterOf(name));
  return withRowsCompared(await Array.fromAsync(verifyDump(adapterOf(name), files, stated)));
}

function isFound({ ok, wrong, findings }: DumpReport): boolean {
  return (!ok && wrong > 0) || findings.some(({ code }) => code === 'rows-differ');
}

for (const [name, run] of Object.entries(RUNS)) {
  describe(name, () => {
    const batches = goldenRun(run.form);

    test('values of the trainer’s own function are ok, and its form is the first that is inferred', async () => {
      const steps = batches.map((batch) => rowsOf(batch));
      const stated = await reportsOf(name, steps, { ...run.options, estimator: 'grpo' });
      assert.equal(stated.length, 3);
      for (const { ok, findings, wrong } of stated) assert.deepEqual([ok, wrong, findings], [true, 0, []]);
      for (const { consistent, configuration } of await reportsOf(name, steps, { ...run.options }))
        assert.deepEqual(
          [consistent, configuration.origin, configuration.fingerprint],
          [true, 'inferred', stated[0]!.configuration.fingerprint],
        );
    });

    for (const [fault, plant] of Object.entries(FAULTS)) {
      test(`${fault}: found in the step that has it, and in no other`, async () => {
        for (const at of batches.keys()) {
          const steps = batches.map((batch, step) => (step === at ? plant(batch, run) : rowsOf(batch)));
          const reports = await reportsOf(name, steps, { ...run.options, estimator: 'grpo' });
          assert.deepEqual(
            reports.map(isFound),
            batches.map((_, step) => step === at),
            batches[at]!.name,
          );
        }
      });
    }
  });
}

/** The same faults in what GRPOTrainer wrote, of which no file can be written here. */
const TRL_FAULTS: Readonly<Record<string, (step: DumpStep) => Float64Array>> = {
  'another deviation': (step) => byTrl(step, { deviation: 'population' }),
  'another epsilon': (step) => byTrl(step, { epsilon: 1e-2 }),
  'no division': (step) => byTrl(step, { normalizeByStd: false }),
  'two rows swapped': ({ advantage }) => advantage!.with(0, advantage![9]!).with(9, advantage![0]!),
  'groups mixed': (step) => byTrl({ ...step, group: namesOf([...'abababababababab']) }, {}),
  clipped: ({ advantage }) => advantage!.map((a) => Math.max(-1, Math.min(1, a))),
  'all zero': ({ advantage }) => advantage!.map(() => 0),
};

function byTrl(step: DumpStep, params: Record<string, number | string | boolean>): Float64Array {
  return estimate(batchOf(step, TRL.estimators[0]!), { params }).advantage;
}

const TRL = adapterOf('trl');
const TRL_FILES = [1, 2, 3].map((step) => `${DUMPS}/trl/decimal/completions/completions_0000${step}.parquet`);

async function trlReports(adapter: DumpAdapter): Promise<DumpReport[]> {
  return withRowsCompared(await Array.fromAsync(verifyDump(adapter, TRL_FILES)));
}

describe('trl', () => {
  for (const [fault, change] of Object.entries(TRL_FAULTS)) {
    test(`${fault}: found in every step`, async () => {
      const reports = await trlReports(planted(TRL, (step) => ({ ...step, advantage: change(step) })));
      assert.ok(reports.every(({ ok, consistent, wrong }) => !ok && !consistent && wrong > 0));
    });
  }

  test('a group dropped: found', async () => {
    const shorter = (step: DumpStep): DumpStep => {
      if (step.name !== 'step 2') return step;
      const { advantage, reward, group } = step;
      const ids = group.ids.slice(8);
      return { ...step, advantage: advantage!.slice(8), reward: reward.slice(8), group: { ...group, ids } };
    };
    assert.deepEqual((await trlReports(planted(TRL, shorter))).map(isFound), [false, true, false]);
  });
});
