import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { PYTHON_PACKAGES } from '../../src/cli/local/stack.ts';
import { isFinal } from '../../src/core/states.ts';
import { packRayWorker } from '../../src/dispatch/clusters/setup/package.ts';
import { setUpCluster } from '../../src/dispatch/clusters/setup/set-up.ts';
import type { ClusterView } from '../../src/schemas/api.ts';
import type { Experiment } from '../../src/schemas/experiment.ts';
import { until } from '../support/dispatch.ts';
import { assertWhole, historyOf } from '../support/history.ts';
import { commandEnded, processesOf, type RoleProcess, type System, startSystem } from '../support/system.ts';
import { GPUS, type GpuNodes, hasPyarrow, LABELS, startGpuNodes } from '../support/verl-agent/gpu-nodes.ts';

const CLI = new URL('../../src/cli/main.ts', import.meta.url).pathname;
const NAME = 'fleet';

/** Long enough to be interrupted. */
const SLOW = {
  name: 'slow',
  engine: 'local',
  cluster: NAME,
  estimator: { name: 'hgpo', historyLength: 2 },
  rollout: { groups: 2, groupSize: 4 },
  training: { steps: 10, stepDelaySeconds: 0.3 },
  evaluation: { games: 4 },
};

describe('a stock Ray is added, brought up to date, drained and removed', () => {
  let system: System;
  let dispatcher: RoleProcess;
  let tokenFile: string;
  let rayToken: string;
  let address: string;
  let sharedRoot: string;
  before(async () => {
    system = await startSystem({ addLocal: false });
    ({ rayToken, rayAddress: address, sharedRoot } = system.stack.cluster);
    tokenFile = join(system.stateDir, 'ray-token');
    await writeFile(tokenFile, `${rayToken}\n`);
    dispatcher = await system.startDispatcher();
  });
  after(() => system?.stop());

  const cli = (...args: string[]) => echelon('clusters', ...args);
  const echelon = (...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const env = { ...process.env, ECHELON_URL: system.client.url, ECHELON_TOKEN: 'a-token-for-tests-only' };
      execFile(process.execPath, [CLI, ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  const add = (file: string, ...more: string[]) =>
    cli('add', NAME, address, '--ray-token-file', file, '--shared-root', sharedRoot, '--wait', ...more);
  const view = () => system.client.get('/v1/clusters/{name}', { path: { name: NAME } });
  const ended = ({ state, verification }: Experiment) => isFinal(state) && verification.status === 'complete';

  test('adding a cluster with a wrong token fails with the reason, and no cluster is added', async () => {
    const wrong = join(system.stateDir, 'wrong-token');
    await writeFile(wrong, 'f'.repeat(64));
    const { code, stderr } = await add(wrong);
    assert.equal(code, 1);
    assert.match(stderr, /does not accept the token[\s\S]*RAY_AUTH_TOKEN/);
    assert.deepEqual((await system.client.get('/v1/clusters')).items, []);
  });

  test('adding a cluster with an unreachable ray-worker fails with its address', async () => {
    const { code, stderr } = await add(tokenFile, '--advertise', '127.0.0.2:9');
    assert.equal(code, 1, stderr);
    assert.match(stderr, /127\.0\.0\.2:9 cannot be reached from here/);
    await assert.rejects(view(), { code: 'cluster-not-found' });
  });

  test('adding a cluster again uses the running ray-worker, and the list shows its resources', async () => {
    const { code, stdout, stderr } = await add(tokenFile);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /found the ray-worker/);
    assert.doesNotMatch(stderr, /without a token/);
    assert.match(stdout, /takes experiments/);
    const cluster = await view();
    assert.deepEqual([cluster.answering, cluster.draining, cluster.rayAddress], [true, false, address]);
    assert.equal(cluster.sharedRoot, sharedRoot);
    assert.ok(cluster.nodes[0]!.cpusTotal >= 2);
    assert.match((await cli()).stdout, new RegExp(`${NAME} +ready +1 +0/0 `));
    const listed = JSON.parse((await cli('--json')).stdout) as { items: ClusterView[] };
    assert.equal(listed.items[0]!.name, NAME);
  });

  test('a preflight checks the nodes and a spec, and leaves no files', async () => {
    const file = join(system.stateDir, 'slow.json');
    await writeFile(file, JSON.stringify(SLOW));
    const { code, stdout, stderr } = await echelon('preflight', file, '--all');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /ok +CPUs +2 rollout actors want 0\.2 CPUs/);
    const nodes = await echelon('preflight', '--cluster', NAME);
    assert.equal(nodes.code, 0, nodes.stderr);
    assert.match(nodes.stdout, /ok +shared root +node [\d.]+ sees .*, and may write there/);
    assert.deepEqual(
      (await readdir(sharedRoot)).filter((name) => name.includes('preflight')),
      [],
    );
  });

  test('a newer version replaces the ray-worker during an attempt, whose driver and events continue', async () => {
    const { id } = await system.submit({ ...SLOW, training: { steps: 500, stepDelaySeconds: 0.3 } });
    await system.until(id, 'step 2', ({ progress }) => progress.step >= 2);
    const running = await processesOf(id);
    const said: string[] = [];
    const place = {
      address,
      token: rayToken,
      tls: null,
      sharedRoot,
      node: null,
      port: null,
      advertise: null,
    };
    const { description } = await setUpCluster(NAME, place, {
      pack: () => packRayWorker({ ...PYTHON_PACKAGES, rayWorker: newerPackage(system.stateDir) }),
      say: async (line) => void said.push(line),
      warn: (message) => assert.fail(message),
      signal: new AbortController().signal,
    });
    assert.equal(description.version, '99.0.0');
    assert.match(said.join('\n'), /replacing the ray-worker .* version 99\.0\.0;/);
    assert.ok(
      (await processesOf(id)).some((pid) => running.includes(pid)),
      'the driver did not live on',
    );
    await until(async () => (await view()).rayWorkerVersion === '99.0.0', 'the new version is seen');
    const { progress } = await system.get(id);
    await system.until(id, 'its events continue', (now) => now.progress.step >= progress.step + 2);
    await system.client.post('/v1/experiments/{id}/cancel', { path: { id } });
    const { state, attempt, reason } = await system.until(id, 'the end', ended);
    assert.deepEqual([state, attempt], ['cancelled', 1], reason);
    const history = await historyOf(system.client, id);
    assert.deepEqual([...assertWhole(history).keys()], [1]);
    assert.equal(history.filter(({ event }) => event.type === 'started').length, 1);
    assert.deepEqual(await processesOf(id), []);
    const { stderr } = await add(tokenFile);
    assert.match(stderr, /newer than/);
  });

  test('adding the same Ray under another name is refused', async () => {
    const { id } = await system.client.post('/v1/clusters', {
      body: { name: 'duplicate', address, token: rayToken, sharedRoot },
    });
    const { state, problems } = await commandEnded(system.client, id);
    assert.equal(state, 'failed');
    assert.match(problems.at(-1)!.message, new RegExp(`belongs to this installation as cluster ${NAME}`));
  });

  test('a draining cluster finishes its experiments and starts none, and its removal waits for them', async () => {
    const { id } = await system.submit({ ...SLOW, training: { steps: 500, stepDelaySeconds: 0.3 } });
    await system.until(id, 'it runs', ({ state }) => state === 'running');
    assert.equal((await cli('drain', NAME, '--wait')).code, 0);
    assert.match((await cli()).stdout, /draining/);
    const { id: next } = await system.submit({ name: 'next', engine: 'replay', cluster: NAME });
    const reason = async () => {
      const { items } = await system.client.get('/v1/queues');
      return /is draining/.test(items[0]?.waitReason ?? '');
    };
    await until(reason, 'it says why it waits');
    const { code, stderr } = await cli('delete', NAME, '--wait');
    assert.deepEqual([code, stderr.includes(id)], [4, true], stderr);
    const { progress } = await system.get(id);
    await system.until(id, 'it continues', (now) => now.progress.step >= progress.step + 2);
    await system.client.post('/v1/experiments/{id}/cancel', { path: { id } });
    assert.equal((await system.until(id, 'the end', ended)).state, 'cancelled');
    assert.equal((await system.get(next)).state, 'queued');
    assert.equal((await add(tokenFile)).code, 0);
    assert.equal((await system.until(next, 'it ran', ended)).state, 'succeeded');
    const removed = await cli('delete', NAME, '--wait');
    assert.equal(removed.code, 0, removed.stderr);
    await assert.rejects(view(), { code: 'cluster-not-found' });
  });

  describe('a Ray of four nodes without authentication', () => {
    let nodes: GpuNodes;
    before(async () => {
      nodes = await startGpuNodes(system.stateDir);
    });
    after(() => nodes?.[Symbol.asyncDispose]());

    const gpus = async () => {
      await sleep(200); // the number of requests is limited
      return (await view()).nodes.map(({ gpusTotal }) => gpusTotal).sort();
    };

    test('adding it succeeds with a warning', async () => {
      const env = { VERL_AGENT_HOME: nodes.home };
      const body = { name: NAME, address: nodes.address, sharedRoot: join(system.stateDir, 'open'), env };
      const { id } = await system.client.post('/v1/clusters', { body });
      const { state, problems } = await commandEnded(system.client, id);
      assert.equal(state, 'succeeded', JSON.stringify(problems));
      assert.match(problems[0]?.message ?? '', /answers without a token/);
      await until(async () => isDeepStrictEqual(await gpus(), [0, GPUS, GPUS, GPUS]), 'its nodes are seen');
    });

    test('experiments with node labels start on the node that has them in Ray, one after the other, though others are free', async () => {
      const labelled = (await view()).nodes.filter(({ labels }) => labels['gpu-memory'] === 'large');
      assert.equal(labelled.length, 1);
      const go = join(system.stateDir, 'go');
      const submit = async (name: string) =>
        (
          await system.submit({
            name,
            engine: 'command',
            cluster: NAME,
            command: ['sh', '-c', `until [ -e ${go}-${name} ]; do sleep 0.1; done`],
            resources: { gpus: GPUS, nodeLabels: LABELS },
          })
        ).id;
      const nodesOf = async (id: string) =>
        (await system.client.get('/v1/allocations')).items
          .filter(({ experiment }) => experiment === id)
          .map(({ node }) => node);
      const runsThere = async (id: string) => {
        await system.until(id, 'it runs', ({ state }) => state === 'running');
        assert.deepEqual(await nodesOf(id), [labelled[0]!.id]);
      };
      const one = await submit('one');
      await runsThere(one);
      const two = await submit('two');
      const waits = async () => {
        await sleep(200); // the number of requests is limited
        const { items } = await system.client.get('/v1/queues');
        return /gpu-memory=large/.test(items[0]?.waitReason ?? '');
      };
      await until(waits, 'the second waits for the label');
      writeFileSync(`${go}-one`, '');
      await runsThere(two);
      writeFileSync(`${go}-two`, '');
      for (const id of [one, two])
        assert.equal((await system.until(id, 'the end', ended)).state, 'succeeded');
    });

    const needsPyarrow = {
      skip: hasPyarrow() ? false : 'pyarrow is not installed: test/requirements.txt',
    };
    /** The trainings of 2, 2 and 4 GPUs, and the node that is allocated to each at first. */
    let ids: [string, string, string];
    let first: Map<string, string>;

    test(
      'trainings of 2, 2 and 4 GPUs run at once, their placement groups on the nodes allocated to them',
      needsPyarrow,
      async () => {
        const submitted = [];
        for (const spec of [placedSpec(2, 1), placedSpec(2, 2), placedSpec(GPUS, 3)])
          submitted.push((await system.submit(spec)).id);
        ids = submitted as typeof ids;
        const saved = ({ state, checkpoint }: Experiment) => state === 'running' && checkpoint?.step === 1;
        for (const id of ids) await system.until(id, 'its first checkpoint', saved);
        first = await allocated(ids);
        const [one, two, three] = ids.map((id) => first.get(id));
        assert.ok(one === two && one !== three);
        for (const id of ids) assert.deepEqual(await placedOn(id, 1), [first.get(id)]);
      },
    );

    test(
      'kill -9 of the raylet below 4 GPUs: attempt 2 resumes on another node, and the other trainings continue',
      needsPyarrow,
      async () => {
        const [, , large] = ids;
        await nodes.killRaylet(first.get(large)!);
        await system.until(large, 'attempt 2', ({ state, attempt }) => state === 'running' && attempt === 2);
        await until(async () => (await placedOn(large, 2)).length > 0, 'its GPU processes are placed again');
        const second = (await allocated([large])).get(large)!;
        assert.ok(![...first.values()].includes(second));
        assert.deepEqual(await placedOn(large, 2), [second]);
        await nodes.go();
        await until(async () => /resumed after step 1/.test(await logOf(large, 2)), 'it resumes');
        for (const id of ids) {
          const { state, attempt, reason } = await system.until(id, 'the end', ended, 120_000);
          const attempts = id === large ? 2 : 1;
          assert.deepEqual([state, attempt], ['succeeded', attempts], reason);
          assert.equal(assertWhole(await historyOf(system.client, id)).size, attempts);
          await until(async () => (await processesOf(id)).length === 0, 'no process is left');
        }
      },
    );

    /** The one node that is allocated to each of these experiments. */
    async function allocated(ids: readonly string[]): Promise<Map<string, string>> {
      const { items } = await system.client.get('/v1/allocations');
      const own = items.filter(({ experiment, gpus }) => ids.includes(experiment) && gpus > 0);
      assert.equal(own.length, ids.length);
      return new Map(own.map(({ experiment, node }) => [experiment, node]));
    }

    async function logOf(id: string, attempt: number): Promise<string> {
      await sleep(200); // the number of requests is limited
      const query = { attempt, tail: 1000 };
      const { lines } = await system.client.get('/v1/experiments/{id}/logs', { path: { id }, query });
      return lines.map(({ text }) => text).join('\n');
    }

    /** The nodes of the placement group that the attempt's trainer has named, as Ray has them. */
    async function placedOn(id: string, attempt: number): Promise<string[]> {
      const group = /placement groups: (\w+)/.exec(await logOf(id, attempt))?.[1];
      return group === undefined ? [] : nodes.nodesOf(group);
    }
  });

  test('no token of a cluster is in a log', () => {
    for (const log of [system.api.log(), dispatcher.log()]) {
      assert.ok(log.length > 0);
      assert.ok(!log.includes(rayToken) && !log.includes('f'.repeat(64)));
    }
  });
});

/** A training of one node with so many GPUs, whose settings no other one has. */
function placedSpec(gpus: number, seed: number) {
  return {
    name: `${gpus} GPUs`,
    engine: 'verl-agent',
    recipe: 'qwen2.5_1.5b_alfworld_train',
    cluster: NAME,
    environment: { seed },
    rollout: { groups: gpus, groupSize: 2 },
    training: { steps: 3, saveEvery: 1 },
    evaluation: { games: 1 },
    // Those beside the GPU processes have room on the head alone.
    resources: { gpus, cpus: gpus + 3 },
  };
}

/** A copy of the package with a higher version. */
function newerPackage(directory: string): string {
  const copy = join(directory, 'newer');
  cpSync(join(PYTHON_PACKAGES.rayWorker, 'echelon_rayworker'), join(copy, 'echelon_rayworker'), {
    recursive: true,
  });
  const init = join(copy, 'echelon_rayworker/__init__.py');
  const text = readFileSync(init, 'utf8');
  writeFileSync(init, text.replace(/^__version__ = .*$/m, '__version__ = "99.0.0"'));
  return copy;
}
