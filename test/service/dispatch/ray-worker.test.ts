import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { encodeBatch, readBatches } from 'echelon-verify';
import { createVerifierPool, type VerifierPool } from 'echelon-verify/pool';
import { newExperimentId } from '../../../src/core/ids.ts';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';
import {
  assertWholeStream,
  type Bench,
  compileTestSpec,
  isVerified,
  startBench,
} from '../../support/dispatch.ts';
import { type PythonRayWorker, startPythonRayWorker } from '../../support/python-ray-worker.ts';

/** A training that reports a recorded batch at each step; it waits at the steps at which a file is to appear. */
const TRAINING = `
import base64, os, sys, time
from echelon_rayworker.spool import Spool
steps, rows, gate = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
batch = base64.b64decode(open("batch.txt").read())
spool = Spool.from_environment()
for step in range(1, steps + 1):
    spool.stage(f"step {step} of {steps}", step, steps)
    spool.metrics(step, {"loss": 1 / step})
    spool.batch(step, batch, rows=rows)
    print(f"step {step}", flush=True)
    while gate and step == 2 and not os.path.exists(gate) and os.environ["ECHELON_ATTEMPT"] == "1":
        time.sleep(0.01)
spool.close()
`;

describe('a dispatcher, the real ray-worker and the real verifier', () => {
  let bench: Bench;
  let rayWorker: PythonRayWorker;
  let directory: string;
  let verifier: VerifierPool;
  let batch: string;
  let rows: number;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'echelon-real-'));
    rayWorker = await startPythonRayWorker(directory);
    const golden = join(import.meta.dirname, '../../golden/hgpo.json');
    const first = readBatches(await readFile(golden), golden)[0];
    assert.ok(first);
    rows = first.rows;
    batch = Buffer.from(encodeBatch(first)).toString('base64');
    bench = await startBench();
    const [fake] = await bench.store.clusters.list();
    assert.ok(fake);
    await bench.store.clusters.put({
      ...fake,
      name: 'real',
      address: rayWorker.address,
      token: rayWorker.token,
    });
    verifier = createVerifierPool({ processes: 1, budgetMs: 10_000, budgetBytes: 256 * 1024 * 1024 });
    await bench.dispatcher({
      verifier,
      compile: (spec) => ('plan' in spec ? compileTestSpec(spec) : compilePlan(spec)),
    });
  });
  after(async () => {
    await bench.stop();
    await verifier.close();
    await rayWorker.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const submit = (steps: number, gate = '') =>
    bench.submit(
      {},
      {
        cluster: 'real',
        plan: {
          module: 'training',
          arguments: [String(steps), String(rows), gate],
          files: { 'training.py': TRAINING, 'batch.txt': batch },
        },
      },
    );

  const reportsStep = (id: string, step: number) =>
    bench.comes(id, `reported step ${step}`, ({ progress }) => progress.step >= step);

  test('take an experiment from submission to a complete verification', async () => {
    const id = await submit(3);
    await bench.reaches(id, 'succeeded');
    const { verification } = await bench.comes(id, 'was verified', isVerified);
    assert.equal(verification.batchesVerified, 3);
    assert.equal(verification.rowsVerified, 3 * rows);
    assert.equal(verification.wrong, 0);
    await assertWholeStream(bench.store, id, 1);
  });

  test('lose nothing when the ray-worker is killed and started again', async () => {
    const gate = join(directory, 'gate');
    const id = await submit(40, gate);
    await reportsStep(id, 2);
    await rayWorker.kill();
    await rayWorker.start();
    await writeFile(gate, '');
    const record = await bench.reaches(id, 'succeeded');
    assert.equal(record.attempt, 1);
    assert.equal(record.verification.batches, 40);
    await assertWholeStream(bench.store, id, 1);
  });

  test('try again when the driver is killed', async () => {
    const id = await submit(3, join(directory, 'never'));
    await reportsStep(id, 2);
    const entries = await bench.store.events.read(id, undefined, 1000);
    const started = entries.find(({ event }) => event.type === 'started')?.event;
    assert.ok(started?.type === 'started');
    process.kill(started.pid, 'SIGKILL');
    const record = await bench.reaches(id, 'succeeded');
    assert.equal(record.attempt, 2);
    const ended = (await bench.store.attempts.list(id)).map((attempt) => attempt.ended?.cause);
    assert.deepEqual(ended, ['killed', 'succeeded']);
  });

  test('run a spec of the replay engine, and distinguish a faulty estimator from a right one', async () => {
    for (const fault of ['none', 'sample-std'] as const) {
      const { spec } = resolveSpec({
        engine: 'replay',
        name: fault,
        cluster: 'real',
        replay: { fault, batches: 2 },
      });
      const id = newExperimentId();
      await bench.store.experiments.submit({
        id,
        project: 'default',
        name: fault,
        priority: 0,
        cluster: 'real',
        gpus: spec.resources.gpus,
        cpus: spec.resources.cpus,
        submitted: spec,
        resolved: spec,
        defaults: [],
        fingerprint: null,
        customCode: false,
      });
      await bench.queue.enqueue([id]);
      await bench.reaches(id, 'succeeded');
      const { verification } = await bench.comes(id, 'was verified', isVerified);
      assert.equal(verification.batchesVerified, 2);
      assert.equal(verification.wrong > 0, fault !== 'none', fault);
    }
  });

  test('leave no process of a cancelled experiment', async () => {
    const id = await submit(3, join(directory, 'never'));
    await reportsStep(id, 2);
    const entries = await bench.store.events.read(id, undefined, 1000);
    const started = entries.find(({ event }) => event.type === 'started')?.event;
    assert.ok(started?.type === 'started');
    await bench.store.experiments.cancel(id, 'test');
    await bench.reaches(id, 'cancelled');
    assert.throws(() => process.kill(started.pid, 0), /ESRCH/);
  });
});
