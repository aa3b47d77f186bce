import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { createVerifierPool, type VerifierPool } from 'echelon-verify/pool';
import { freePort } from '../../../src/cli/local/processes.ts';
import { assertWholeStream, type Bench, isVerified, startBench, until } from '../../support/dispatch.ts';
import { keepLines } from '../../support/kept-log.ts';
import { spawnRole, TOKEN } from '../../support/system.ts';

/** A trainer that captures 30 batches, of which the one of step 20 has a wrong advantage. */
const TRAINER = `
import sys, time
import echelon_capture as capture

for step in range(1, 31):
    wrong = 0.25 if step == 20 else 0.0
    capture.metrics(step, {"loss": 1 / step})
    capture.batch(step, estimator=dict(name="grpo", normalize_by_std=False), group=["a", "a", "b", "b"],
                  trajectory=[0, 1, 2, 3], token_level_reward_sum=[0.0, 1.0, 0.5, 0.5],
                  advantage=[-0.5 + wrong, 0.5, 0.0, 0.0])
    time.sleep(0.05)
sys.exit(0 if capture.close(60) else 1)
`;

let bench: Bench;
let verifier: VerifierPool;
before(async () => {
  bench = await startBench();
  verifier = createVerifierPool({ processes: 1, budgetMs: 10_000, budgetBytes: 256 * 1024 * 1024 });
  await bench.dispatcher({ verifier });
});
after(async () => {
  await bench.stop();
  await verifier.close();
});

test('a run loses nothing when the api is killed and started again, and its wrong batch is found', async (t) => {
  const port = String(await freePort());
  const environment = {
    ...process.env,
    REDIS_URL: bench.server.url,
    ECHELON_STATE_DIR: bench.directory,
    ECHELON_TOKENS: TOKEN,
    ECHELON_PORT: port,
  };
  const startApi = async () => {
    const [api] = await spawnRole(['api'], environment, /listening on (\S+)/);
    t.after(() => api.kill('SIGKILL'));
    return api;
  };
  const api = await startApi();
  const trainer = spawn(process.env.ECHELON_PYTHON ?? '.venv/bin/python', ['-c', TRAINER], {
    env: {
      ...process.env,
      PYTHONPATH: 'deploy/capture',
      ECHELON_RUN_NAME: 'mine',
      ECHELON_URL: `http://127.0.0.1:${port}`,
      ECHELON_TOKEN: TOKEN,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  keepLines('trainer', trainer.stderr);
  const exited = once(trainer, 'exit');
  t.after(() => trainer.kill('SIGKILL'));

  const { id } = await until(async () => {
    const [item] = (await bench.store.experiments.list({ limit: 1 })).items;
    return item !== undefined && item.progress.step >= 5 && item;
  }, 'step 5 is reported');
  api.kill('SIGKILL');
  await startApi();
  assert.deepEqual(await exited, [0, null]);

  const record = await bench.comes(id, 'was verified', isVerified);
  assert.deepEqual([record.state, record.name, record.attempt], ['succeeded', 'mine', 1]);
  assert.equal(record.verification.batchesVerified, 30);
  assert.equal(record.verification.dropped, 0);
  const { items } = await bench.store.batches.page(id, { limit: 50 });
  const wrong = items.filter(({ report }) => (report as { wrong: number } | null)?.wrong !== 0);
  assert.deepEqual(
    wrong.map(({ step }) => step),
    [20],
  );
  await assertWholeStream(bench.store, id, 1);
});
