import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { decodeBatch, encodeBatch } from '../../src/format/batch-wire.ts';
import { BatchFormatError } from '../../src/format/format-error.ts';
import { createVerifierPool, type VerifierPool, type VerifierPoolOptions } from '../../src/pool/pool.ts';
import { verifyBatch } from '../../src/verify/verify-batch.ts';
import { goldenBatch } from '../support/golden-batches.ts';

const ROOMY: VerifierPoolOptions = { processes: 2, budgetMs: 60_000, budgetBytes: 2 ** 29 };
const pools: VerifierPool[] = [];

function poolOf(options: Partial<VerifierPoolOptions> = {}): VerifierPool {
  const pool = createVerifierPool({ ...ROOMY, ...options });
  pools.push(pool);
  return pool;
}

/** The bytes of a batch in a buffer of their own. */
function wireOf(name: string): Uint8Array {
  return new Uint8Array(encodeBatch(goldenBatch(name)));
}

after(() => Promise.all(pools.map((pool) => pool.close())));

describe('the verifier pool', () => {
  const pool = poolOf();

  test('gives the report that verifyBatch gives', async () => {
    const wire = wireOf('walk-K2-mean_std_norm-base0');
    assert.deepEqual(await pool.verify(wire), verifyBatch(decodeBatch(wire)));
  });

  test('sends a view on a part of a buffer', async () => {
    const wire = wireOf('one-step-episodes');
    const shared = new Uint8Array(wire.byteLength + 16);
    shared.set(wire, 8);
    assert.equal((await pool.verify(shared.subarray(8, 8 + wire.byteLength))).ok, true);
  });

  test('verifies more batches than it has processes', async () => {
    const names = ['alpha-0.0', 'alpha-0.5', 'alpha-2.0', 'alpha-10.0', 'gamma-1.0', 'gamma-0.9'];
    const reports = await Promise.all(names.map((name) => pool.verify(wireOf(name))));
    assert.deepEqual(
      reports.map((report) => [report.name, report.ok]),
      names.map((name) => [name, true]),
    );
  });

  test('explains a row, and says which rows there are', async () => {
    const explanation = await pool.explain(wireOf('one-step-episodes'), { row: 3 });
    assert.equal(explanation.outcome, 'exact');
    await assert.rejects(pool.explain(wireOf('one-step-episodes'), { row: 5 }), /rows 0 to 4, not 5/);
  });

  test('rejects bytes that are no batch with the class and fields of the reader’s error', async () => {
    await assert.rejects(pool.verify(new Uint8Array([10, 200])), (error) => {
      assert.ok(error instanceof BatchFormatError);
      assert.equal(error.code, 'unreadable');
      return true;
    });
  });

  test('a batch over its time is unverifiable, and the pool continues', async () => {
    const hasty = poolOf({ processes: 1, budgetMs: 1 });
    const report = await hasty.verify(wireOf('alfworld-scale'));
    assert.deepEqual([report.name, report.rows, report.unverifiable], ['alfworld-scale', 4621, 4621]);
    assert.deepEqual(
      report.findings.map((f) => [f.code, f.severity]),
      [['budget-exceeded', 'warning']],
    );
    assert.equal(report.ok, false);
    assert.equal((await hasty.verify(wireOf('alfworld-scale'))).unverifiable, 4621);
  });

  test('a batch over its memory is unverifiable', async () => {
    for (const budgetBytes of [100_000, 1_000_000]) {
      const small = poolOf({ processes: 1, budgetBytes });
      const report = await small.verify(wireOf('alfworld-scale'));
      assert.equal(report.findings[0]?.code, 'budget-exceeded');
      assert.equal(report.unverifiable, 4621);
    }
    const small = poolOf({ processes: 1, budgetBytes: 100_000 });
    assert.equal((await small.verify(wireOf('one-step-episodes'))).ok, true);
  });

  test('an abort cancels queued and running batches', async () => {
    const single = poolOf({ processes: 1 });
    const running = new AbortController();
    const waiting = new AbortController();
    const first = single.verify(wireOf('alfworld-scale'), running.signal);
    const second = single.verify(wireOf('alfworld-scale'), waiting.signal);
    waiting.abort(new Error('not needed'));
    running.abort(new Error('enough'));
    await assert.rejects(second, /not needed/);
    await assert.rejects(first, /enough/);
    assert.equal((await single.verify(wireOf('one-step-episodes'))).ok, true);
    await assert.rejects(
      single.verify(wireOf('one-step-episodes'), AbortSignal.abort(new Error('late'))),
      /late/,
    );
  });
});
