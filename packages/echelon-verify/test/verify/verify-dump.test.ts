import assert from 'node:assert/strict';
import { cp, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import type { DumpAdapter } from '../../src/dumps/adapter.ts';
import { TRL } from '../../src/dumps/trl.ts';
import { type DumpReport, type StatedDump, verifyDump } from '../../src/verify/verify-dump.ts';
import { bfloat16 } from '../support/bfloat16.ts';
import { DUMPS, folder, planted } from '../support/dump-files.ts';

const FILES = [1, 2, 3].map((step) => `${DUMPS}/trl/decimal/completions/completions_0000${step}.parquet`);
/** Without the configuration file: what is not stated must be inferred. */
const { find: _find, ...UNCONFIGURED } = TRL;

async function run(adapter: DumpAdapter, stated: StatedDump = {}): Promise<DumpReport[]> {
  return await Array.fromAsync(verifyDump(adapter, FILES, stated));
}

function swapped<T extends Float64Array | Int32Array>(column: T, a: number, b: number): T {
  const copy = column.slice() as T;
  [copy[a], copy[b]] = [column[b]!, column[a]!];
  return copy;
}

describe('where the estimator comes from', () => {
  test('a stated one is verified, with the trainer’s own values for the rest', async () => {
    const [report] = await run(UNCONFIGURED, { estimator: 'grpo' });
    assert.deepEqual([report!.ok, report!.configuration.origin], [true, 'stated']);
    assert.match(report!.configuration.fingerprint!, /eps=1e-4/);
    const [other] = await run(TRL, { params: { epsilon: 1e-2 } });
    assert.ok(other!.wrong > 0);
    await assert.rejects(run(TRL, { params: { historyLength: 2 } }), /grpo has no parameter "historyLength"/);
  });

  test('a found one names its file', async () => {
    const [report] = await run(TRL);
    assert.deepEqual([report!.ok, report!.configuration.origin], [true, 'found']);
    assert.match(report!.configuration.file!, /training_args\.bin$/);
  });

  test('an inferred one is consistent and never ok', async () => {
    for (const report of await run(UNCONFIGURED)) {
      assert.deepEqual([report.ok, report.consistent, report.wrong], [false, true, 0]);
      assert.deepEqual([report.configuration.origin, report.configuration.share], ['inferred', 1]);
    }
  });

  test('a stated precision holds for an estimator that is found, stated or inferred', async () => {
    const rounding = (adapter: DumpAdapter) =>
      planted(adapter, (step) => ({ ...step, advantage: step.advantage!.map(bfloat16) }));
    const precision = 'bfloat16-output';
    const outcome = async (adapter: DumpAdapter, stated: StatedDump) => {
      const [report] = await run(rounding(adapter), stated);
      return [report!.ok || report!.consistent, report!.configuration.origin];
    };
    assert.deepEqual(await outcome(TRL, {}), [false, 'found']);
    assert.deepEqual(await outcome(TRL, { precision }), [true, 'found']);
    assert.deepEqual(await outcome(UNCONFIGURED, { precision, estimator: 'grpo' }), [true, 'stated']);
    assert.deepEqual(await outcome(UNCONFIGURED, {}), [false, 'unknown']);
    assert.deepEqual(await outcome(UNCONFIGURED, { precision }), [true, 'inferred']);
  });

  test('one that explains most rows shows the others as wrong', async () => {
    const few = planted(UNCONFIGURED, (step) =>
      step.name === 'step 2' ? { ...step, advantage: swapped(step.advantage!, 0, 9) } : step,
    );
    const reports = await run(few);
    assert.deepEqual(
      reports.map(({ wrong }) => wrong > 0),
      [false, true, false],
    );
  });

  test('if none explains the advantages, nothing is verified and the remedy is said', async () => {
    const [report] = await run(
      planted(UNCONFIGURED, (step) => ({ ...step, advantage: step.advantage!.map((a) => a * 3) })),
    );
    assert.deepEqual([report!.ok, report!.consistent, report!.unverifiable], [false, false, 16]);
    assert.match(report!.findings[0]!.message, /State it with --estimator/);
  });
});

describe('several runs in one call', () => {
  const filesOf = (name: string) =>
    [1, 2, 3].map((step) => `${DUMPS}/trl/${name}/completions/completions_0000${step}.parquet`);
  const verified = async (...names: string[]) =>
    await Array.fromAsync(verifyDump(TRL, names.flatMap(filesOf)));

  test('each batch is judged by the configuration of its own run, in any order', async () => {
    for (const names of [
      ['decimal', 'pair', 'none', 'weights'],
      ['weights', 'none', 'pair', 'decimal'],
    ]) {
      const reports = await verified(...names);
      assert.deepEqual(
        reports.map(({ ok, run: folder, configuration }) => [ok, folder, configuration.file]),
        names.flatMap((name) =>
          filesOf(name).map((file) => [true, dirname(file), `${DUMPS}/trl/${name}/training_args.bin`]),
        ),
      );
    }
  });

  test('a wrong run after a right one is wrong', async () => {
    // The run trained without division, and its configuration says that it divides.
    await using dir = await folder();
    await cp(`${DUMPS}/trl/none/completions`, join(dir.path, 'completions'), { recursive: true });
    await cp(`${DUMPS}/trl/decimal/training_args.bin`, join(dir.path, 'training_args.bin'));
    const wrong = [1, 2, 3].map((step) => join(dir.path, `completions/completions_0000${step}.parquet`));
    const right = filesOf('none');
    for (const files of [
      [...right, ...wrong],
      [...wrong, ...right],
    ])
      for (const report of await Array.fromAsync(verifyDump(TRL, files)))
        assert.equal(report.wrong > 0, wrong.includes(report.file), report.file);
  });

  test('a resumed run is judged by the configuration that each checkpoint was saved with', async () => {
    await using dir = await folder();
    await mkdir(join(dir.path, 'completions'));
    for (const [step, name, checkpoint] of [
      [1, 'none', 1],
      [2, 'decimal', 3],
      [3, 'decimal', 3],
    ] as const) {
      const file = `completions/completions_0000${step}.parquet`;
      await cp(`${DUMPS}/trl/${name}/${file}`, join(dir.path, file));
      const saved = join(dir.path, `checkpoint-${checkpoint}`, 'training_args.bin');
      await cp(`${DUMPS}/trl/${name}/training_args.bin`, saved);
    }
    const files = [1, 2, 3].map((step) => join(dir.path, `completions/completions_0000${step}.parquet`));
    const reports = await Array.fromAsync(verifyDump(TRL, files));
    assert.deepEqual(
      reports.map(({ ok }) => ok),
      [true, true, true],
    );
    assert.deepEqual(new Set(reports.map(({ configuration }) => configuration.fingerprint)).size, 2);
  });
});
