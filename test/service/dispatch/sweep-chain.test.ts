import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { newSweepId } from '../../../src/core/ids.ts';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { type ChainChild, draftChain } from '../../../src/plan/preset-sweep.ts';
import { makeChild } from '../../../src/plan/sweep.ts';
import type { Experiment } from '../../../src/schemas/experiment.ts';
import { AGREEING, type Bench, startBench, until } from '../../support/dispatch.ts';
import { type PythonRayWorker, startPythonRayWorker } from '../../support/python-ray-worker.ts';

/** A replay that stands for a training or an evaluation. */
function replay(run: string, options: { after?: number; exitCode?: number; seed?: number } = {}): ChainChild {
  const { after: awaited, exitCode = 0, seed = 0 } = options;
  return {
    spec: {
      engine: 'replay',
      name: run,
      maxAttempts: 1,
      // An evaluation names no cluster: it starts on the one of its training.
      ...(awaited === undefined && { cluster: 'real' }),
      replay: { batches: 1, exitCode },
    },
    place: { run, phase: awaited === undefined ? 'train' : 'evaluation', seed },
    ...(awaited !== undefined && { after: awaited }),
  };
}

describe('trainings and their evaluations, on the real ray-worker', () => {
  let bench: Bench;
  let rayWorker: PythonRayWorker;
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'echelon-chain-'));
    rayWorker = await startPythonRayWorker(directory);
    bench = await startBench();
    const [fake] = await bench.store.clusters.list();
    const { address, token } = rayWorker;
    await bench.store.clusters.put({ ...fake!, name: 'real', address, token });
    for (let count = 0; count < 2; count += 1) {
      await bench.dispatcher({ verifier: AGREEING, compile: compilePlan });
    }
  });
  after(async () => {
    await bench.stop();
    await rayWorker.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test('an evaluation runs after its training has succeeded, and not after it failed', async () => {
    const { store } = bench;
    const draft = draftChain('a chain', [
      replay('good'),
      replay('bad', { exitCode: 3 }),
      ...[123, 456, 789].map((seed) => replay('good', { after: 0, seed })),
      replay('good', { after: 0, seed: 790, exitCode: 3 }),
      ...[123, 456].map((seed) => replay('bad', { after: 1, seed })),
    ]);
    const { id } = await store.sweeps.create({
      id: newSweepId(),
      project: 'default',
      seed: null,
      ...draft,
      fingerprints: draft.entries.map(() => null),
    });
    const over = () =>
      until(async () => (await store.sweeps.get(id))?.endedAt, 'every child has ended', {
        instead: () => store.sweeps.get(id),
      });
    await over();
    const sweep = (await store.sweeps.get(id))!;
    assert.deepEqual([sweep.state, sweep.skipped], ['done', 2]);
    assert.deepEqual([sweep.counts.succeeded, sweep.counts.failed], [4, 2]);
    const children = await store.sweeps.children(sweep, 0, sweep.count);
    const [training, ...rest] = await Promise.all(
      children.map(({ experiment }) => store.experiments.get(experiment)),
    );
    const clusterOf = (child: Experiment | undefined) => (child!.submitted as { cluster?: string }).cluster;
    for (const evaluation of rest.slice(1, 5)) {
      assert.ok(evaluation!.startedAt! >= training!.endedAt!);
      assert.deepEqual([clusterOf(evaluation), evaluation!.cluster], ['real', 'real']);
    }
    assert.deepEqual(rest.slice(5), [undefined, undefined]);

    // The failed training runs again and fails again: its evaluations wait for it, and are given up once more. The failed
    // evaluation of the other training runs again on the same cluster.
    await store.sweeps.rerunChildren(sweep, children, makeChild);
    assert.equal((await store.sweeps.get(id))!.skipped, 0);
    await over();
    const again = (await store.sweeps.get(id))!;
    assert.deepEqual([again.state, again.skipped, again.counts.failed], ['done', 2, 2]);
    const [evaluation] = await store.sweeps.children(again, 5, 1);
    const rerun = await store.experiments.get(evaluation!.experiment);
    assert.deepEqual([evaluation!.run, clusterOf(rerun)], [1, 'real']);
  });
});
