import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../../../src/cli/local/processes.ts';
import { STORE_FILE } from '../../../src/core/launch-plan.ts';
import { runsAs, startBench, until } from '../../support/dispatch.ts';
import { startPythonRayWorker } from '../../support/python-ray-worker.ts';

const PYTHON = '.venv/bin/python';
const KEYS = { AWS_ACCESS_KEY_ID: 'a-key-of-tests', AWS_SECRET_ACCESS_KEY: 'a-secret-of-tests' };
const lacking = spawnSync(PYTHON, ['-c', 'import pyarrow, moto']).status !== 0;

/** Saves a checkpoint after each step, and notes where each attempt began. */
const TRAINING = `
import json, os, sys, time
from echelon_rayworker.spool import Spool
directory, notes, enough = sys.argv[1:]
os.makedirs(f"{directory}/checkpoints", exist_ok=True)
try:
    first = json.load(open(f"{directory}/checkpoint.json"))["step"]
    assert open(f"{directory}/checkpoints/step-{first}").read() == str(first) * 1000
except FileNotFoundError:
    first = 0
with open(notes, "a") as file:
    file.write(f"{os.environ['ECHELON_ATTEMPT']} {first}\\n")
spool, step = Spool.from_environment(), first
while not os.path.exists(enough):
    step += 1
    with open(f"{directory}/checkpoints/step-{step}", "w") as file:
        file.write(str(step) * 1000)
    spool.metrics(step, {"loss": 1 / step})
    spool.checkpoint(step, f"checkpoints/step-{step}")
    time.sleep(0.2)
spool.close()
`;

/** Puts a checkpoint of a late step into the bucket, as a holder of its keys can. */
async function plant(s3: string, id: string): Promise<void> {
  const content = Buffer.from('a pickle');
  const sha256 = createHash('sha256').update(content).digest('hex');
  const files = [{ name: 'step-900', size: content.length, sha256 }];
  const manifest = { version: 1, step: 900, path: 'checkpoints/step-900', directory: false, files };
  const put = async (name: string, body: Uint8Array) =>
    assert.ok((await fetch(`${s3}/runs/x/${id}/900/${name}`, { method: 'PUT', body })).ok);
  await put('step-900', content);
  await put('manifest.json', Buffer.from(JSON.stringify(manifest)));
}

test('an experiment with checkpointStore leaves a drained cluster and a lost one, and continues on the other from the newest checkpoint that Echelon recorded as complete', {
  skip: lacking && 'pyarrow or moto is not installed: test/requirements.txt',
}, async () => {
  await using resources = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'echelon-two-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const port = await freePort();
  const moto = spawn(PYTHON, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', `${port}`], { stdio: 'ignore' });
  resources.defer(() => void moto.kill('SIGKILL'));
  const s3 = `http://127.0.0.1:${port}`;
  await until(
    () =>
      fetch(`${s3}/runs`, { method: 'PUT' }).then(
        ({ ok }) => ok,
        () => false,
      ),
    'S3 answers',
  );
  const start = async (name: string) => {
    await mkdir(join(directory, name), { recursive: true });
    return await startPythonRayWorker(join(directory, name));
  };
  const bench = await startBench();
  resources.defer(() => bench.stop());
  const { clusters } = bench.store;
  const [fake] = await clusters.list();
  await clusters.setDraining('fake', true);
  const url = `s3://runs/x?scheme=http&endpoint_override=127.0.0.1:${port}&region=us-east-1`;
  const put = async ({ address, token }: { address: string; token: string }, name: string) => {
    await clusters.put({ ...fake!, name, address, token });
    await clusters.set(name, { checkpointStores: { [url]: ['*'] } });
  };
  const [a, b] = [await start('a'), await start('b')];
  resources.defer(() => a.stop());
  await put(a, 'a');
  await put(b, 'b');
  await clusters.setDraining('b', true);
  await bench.dispatcher();
  const [notes, enough] = [join(directory, 'notes'), join(directory, 'enough')];
  const checkpointStore = { url, retain: 100 };
  const plan = {
    module: 'training',
    arguments: ['{experimentDir}', notes, enough],
    files: { 'training.py': TRAINING, [STORE_FILE]: JSON.stringify(checkpointStore) },
    environment: { ...KEYS, NO_PROXY: '127.0.0.1' },
  };
  const id = await bench.submit(
    {},
    { maxAttempts: 1, gracePeriodMs: 30_000, plan, spec: { checkpointStore } },
  );
  const begun = async () =>
    (await readFile(notes, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => line.split(' ').map(Number));
  const onCluster = async (attempt: number) => (await bench.store.attempts.list(id))[attempt - 1]?.cluster;

  // An operator drains cluster a: its experiments leave at their next checkpoints.
  await bench.comes(id, 'saved', ({ checkpoint }) => (checkpoint?.step ?? 0) >= 3);
  await clusters.setDraining('b', false);
  await clusters.editCordons('a', () => ({ local: { by: 'ann', at: 0, reason: null, drain: true } }));
  const { checkpoint: left } = await bench.comes(id, 'ran again', runsAs(2));
  await until(async () => (await begun()).length === 2, 'the second attempt begins');
  assert.deepEqual([await onCluster(1), await onCluster(2)], ['a', 'b']);
  assert.deepEqual((await begun())[1], [2, left!.step]);

  // Cluster b is lost with its disk; it comes back empty and cordoned.
  await bench.comes(id, 'saved more', ({ checkpoint }) => checkpoint!.step >= left!.step + 3);
  const recorded = async () =>
    Math.max(...(await bench.store.experiments.storedCheckpoints(id)).map(({ step }) => step));
  await until(async () => (await recorded()) > left!.step, 'a checkpoint of b is recorded as complete');
  await clusters.editCordons('a', () => ({}));
  await b.kill();
  const own = join(directory, 'b', 'state');
  for (const pid of processesNaming(own)) process.kill(pid, 'SIGKILL');
  await until(() => processesNaming(own).length === 0, 'the processes of b are gone');
  const newest = await recorded();
  await plant(s3, id);
  await rm(join(directory, 'b'), { recursive: true });
  await clusters.setDraining('b', true);
  const again = await start('b');
  resources.defer(() => again.stop());
  await put(again, 'b');
  await bench.comes(id, 'ran once more', runsAs(3));
  await until(async () => (await begun()).length === 3, 'the third attempt begins');
  assert.equal(await onCluster(3), 'a');
  assert.deepEqual((await begun())[2], [3, newest]);
  await bench.comes(id, 'saved by the third attempt', ({ checkpoint }) => checkpoint!.attempt === 3);
  execFileSync('touch', [enough]);
  const { attempt, checkpoint } = await bench.reaches(id, 'succeeded');
  assert.equal(attempt, 3);
  assert.ok(checkpoint!.step >= newest);
  assert.equal(await recorded(), checkpoint!.step);
});

/** Processes with this text in their command lines. */
function processesNaming(text: string): number[] {
  const { stdout } = spawnSync('sh', ['-c', 'grep -laFe "$1" /proc/[0-9]*/cmdline', 'sh', text], {
    encoding: 'utf8',
  });
  const pids = stdout.split('\n').flatMap((path) => /^\/proc\/(\d+)\//.exec(path)?.[1] ?? []);
  return pids.map(Number).filter((pid) => pid !== process.pid && isAlive(pid));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
