import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ExperimentSpec } from 'echelon-client';
import { randomFrom } from '../../../packages/echelon-verify/test/support/random-batch.ts';
import { createClient } from '../../../src/cli/client.ts';
import { startRedis } from '../../../src/cli/local/redis-server.ts';
import { isFinal } from '../../../src/core/states.ts';
import { createRayWorkerClient } from '../../../src/rpc/client.ts';
import { connectTo } from '../../support/dispatch.ts';
import { commandEnded, type RoleProcess, spawnRole, TOKEN } from '../../support/system.ts';
import { between, pick } from '../faults/fault.ts';
import { type CampaignRay, GPUS, kill, type Neighbour, startNeighbour, startRay } from './ray.ts';

/*
 * Random operations on a real Ray of a head and three nodes of 4 logical GPUs: experiments and gangs, drained nodes, killed
 * raylets, heads, ray-workers and dispatchers, another user's job, a second installation. See docs/evidence/clusters.md.
 */

const CLUSTER = 'fleet';
const ADDRESSES = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];
/** Reports of a ray-worker are at most this old: what another user took earlier is known. */
const KNOWN_MS = 6_000;
const SETTLED_MS = 240_000;
const MAX_OPEN = 10;
const PAGE = 'docs/evidence/clusters.md';

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '60' },
    minutes: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) {
  console.log('npm run test:clusters -- [--operations N] [--minutes M] [--seed S] [--write]');
  process.exit(0);
}

const random = randomFrom(Number(values.seed));
const violations: string[] = [];
const counts = new Map<string, number>();
const ray: CampaignRay & { gcs: string } = await startRay(ADDRESSES);
let neighbour: Neighbour = await startNeighbour(ray.gcs);
const stateDir = mkdtempSync(join(tmpdir(), 'echelon-clusters-'));
const sharedRoot = join(stateDir, 'fleet');
mkdirSync(sharedRoot);
const redis = await startRedis({ directory: join(stateDir, 'redis'), environment: process.env });
const environment = {
  ...process.env,
  REDIS_URL: redis.socket,
  ECHELON_STATE_DIR: stateDir,
  ECHELON_TOKENS: TOKEN,
  ECHELON_PORT: '0',
  ECHELON_LEASE_MS: '6000',
};
const [api, url] = await spawnRole(['api'], environment, /listening on (\S+)/);
const startDispatcher = async () => (await spawnRole(['dispatcher'], environment, /(dispatching)/))[0];
let dispatcher: RoleProcess = await startDispatcher();
/** When each placement group of the neighbour was first seen on its node. */
const heldSince = new Map<string, number>();
/** Allocations that were compared: an attempt's on a node. */
const compared = new Set<string>();
const ids: string[] = [];
let samples = 0;

const client = createClient({ url, token: TOKEN });
const get = (id: string) => client.get('/v1/experiments/{id}', { path: { id } });
const view = () => client.get('/v1/clusters/{name}', { path: { name: CLUSTER } });

async function addCluster(): Promise<void> {
  const { id } = await client.post('/v1/clusters', {
    body: { name: CLUSTER, address: ray.address, sharedRoot },
  });
  const ended = await commandEnded(client, id, 180_000);
  assert.equal(ended.state, 'succeeded', JSON.stringify(ended.problems));
}

/**
 * Nothing new is allocated on GPUs that are allocated or that the neighbour has had for a while. It may take GPUs between an allocation and
 * its driver's start: then Ray is the judge, and the attempt ends as `gpus-short`.
 */
async function sample(): Promise<void> {
  const { held } = await neighbour.ask<{ held: [group: string, node: string, gpus: number][] }>('held');
  const now = Date.now();
  for (const [group, node] of held)
    heldSince.set(`${group} ${node}`, heldSince.get(`${group} ${node}`) ?? now);
  const { nodes } = await view();
  const { items } = await client.get('/v1/allocations');
  samples += 1;
  for (const { id, gpusTotal } of nodes) {
    const here = items.filter(({ node }) => node === id);
    const fresh = here.filter((item) => !compared.has(`${item.experiment}/${item.attempt} ${id}`));
    for (const item of fresh) compared.add(`${item.experiment}/${item.attempt} ${id}`);
    const own = here.reduce((sum, { gpus }) => sum + gpus, 0);
    const others = held
      .filter(([group, node]) => node === id && now - heldSince.get(`${group} ${node}`)! > KNOWN_MS)
      .reduce((sum, [, , gpus]) => sum + gpus, 0);
    if (own > gpusTotal + 1e-6 || (fresh.length > 0 && own + others > gpusTotal + 1e-6))
      violations.push(
        `${own} GPUs of node ${id.slice(0, 8)} are allocated and ${others} are another job's, of ${gpusTotal}`,
      );
  }
}

async function newNeighbour(): Promise<void> {
  neighbour.end();
  neighbour = await startNeighbour(ray.gcs);
}

/** Drains a node of Ray, waits until its experiments have left, and replaces it. */
async function drain(seconds: number): Promise<void> {
  const address = pick(random, ADDRESSES);
  const node = (await neighbour.ask<Record<string, string>>('nodes'))[address];
  if (node === undefined) return;
  await neighbour.ask('drain', node, seconds);
  const left = async () => !(await client.get('/v1/allocations')).items.some((item) => item.node === node);
  for (const until = Date.now() + 60_000; Date.now() < until && !(await left()); ) await delay(500);
  if (seconds === 0 && !(await left()))
    violations.push(`an experiment stayed on node ${node.slice(0, 8)}, which Ray drains`);
  await replaceNode(address);
}

async function replaceNode(address: string): Promise<void> {
  ray.killNode(address);
  await ray.startNode(address);
}

async function submit(): Promise<void> {
  const open = (await client.get('/v1/experiments', { query: { limit: 100 } })).items.filter(
    ({ state }) => !isFinal(state),
  );
  if (open.length >= MAX_OPEN) return;
  const nodes = random() < 0.2 ? 2 : 1;
  const spec = {
    name: 'campaign',
    engine: 'command',
    cluster: CLUSTER,
    command: ['python', 'train.py', '{experimentDir}', String(between(random, 4, 15))],
    files: { 'train.py': readFileSync(join(import.meta.dirname, 'train.py'), 'utf8') },
    resume: ['{checkpoint}'],
    resources: { gpus: between(random, 1, GPUS + 1), cpus: nodes, nodes },
    maxAttempts: 1,
    maxClusterFaults: 50,
    gracePeriodSeconds: 2,
  };
  ids.push((await client.post('/v1/experiments', { body: spec as ExperimentSpec })).id);
}

/** Name, weight and effect of each operation. */
const OPERATIONS: readonly [name: string, weight: number, run: () => Promise<unknown>][] = [
  ['submit an experiment or a gang', 30, submit],
  [
    'another job takes GPUs that are free',
    12,
    async () => {
      const free = Math.max(0, ...(await view()).nodes.map(({ gpusFree }) => gpusFree));
      const gpus = Math.min(free, between(random, 1, 3));
      if (gpus >= 1) await neighbour.ask('take', gpus);
    },
  ],
  ['another job gives GPUs back', 12, () => neighbour.ask('give', 1)],
  ['Ray drains a node without a deadline', 2, () => drain(0)],
  ['Ray drains a node with a deadline', 2, () => drain(25)],
  ['kill -9 of all processes of a node', 3, () => replaceNode(pick(random, ADDRESSES))],
  ['kill -9 of the ray-worker', 3, async () => ray.rayWorkers().forEach(kill)],
  [
    'kill -9 of the dispatcher',
    3,
    async () => {
      dispatcher.kill('SIGKILL');
      await dispatcher.ended.catch(() => {});
      dispatcher = await startDispatcher();
    },
  ],
  [
    'kill -9 of the head and all nodes',
    0.7,
    async () => {
      await ray.replaceHead();
      await newNeighbour();
    },
  ],
  ['a second installation asks the ray-worker', 3, foreign],
];

/** The ray-worker refuses another owner. */
async function foreign(): Promise<void> {
  const store = connectTo({ url: redis.socket }, stateDir);
  try {
    const [cluster] = await store.store.clusters.list([CLUSTER]);
    const other = createRayWorkerClient({ ...cluster!, owner: 'other/fleet', tries: 1 });
    const refused = await other.describe(AbortSignal.timeout(5_000)).then(
      () => false,
      ({ fault }: { fault?: string }) => fault === 'denied' || fault === 'unreachable' || fault === 'aborted',
    );
    other.close();
    if (!refused) violations.push('a second installation may use the ray-worker');
  } finally {
    await store.close();
  }
}

/** Each attempt began at the newest checkpoint that earlier ones had reported. */
function resumeViolations(id: string): string[] {
  let [newest, found] = [0, [] as string[]];
  const file = join(sharedRoot, 'echelon', CLUSTER, 'experiments', id, 'notes.jsonl');
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  for (const line of text.trim().split('\n')) {
    const { attempt, start, saved } = JSON.parse(line) as { attempt: number; start?: number; saved?: number };
    if (start !== undefined && start < newest)
      found = [
        ...found,
        `${id}/${attempt} resumed after step ${start}, the newest checkpoint is of step ${newest}`,
      ];
    newest = Math.max(newest, saved ?? 0);
  }
  return found;
}

async function operate(): Promise<void> {
  const total = OPERATIONS.reduce((sum, [, weight]) => sum + weight, 0);
  let left = random() * total;
  const chosen = OPERATIONS.find(([, weight]) => {
    left -= weight;
    return left < 0;
  });
  const [name, , run] = chosen!;
  const started = Date.now();
  await run();
  counts.set(name, (counts.get(name) ?? 0) + 1);
  console.log(`${new Date().toISOString().slice(11, 19)} ${name} (${Date.now() - started} ms)`);
}

try {
  await addCluster();
  const sampling = new AbortController();
  const sampled = (async () => {
    while (!sampling.signal.aborted) {
      await sample().catch((error: Error) => console.log(`no sample: ${error.message.slice(0, 120)}`));
      await delay(1_000);
    }
  })();
  const until = Date.now() + Number(values.minutes) * 60_000;
  for (let done = 0; done < Number(values.operations) && Date.now() < until; done += 1) {
    await operate().catch((error: Error) => console.log(`not carried out: ${error.message.slice(0, 200)}`));
    if (neighbour.hasEnded()) await newNeighbour();
    await delay(between(random, 200, 1_500));
  }
  // Its end gives back what it has, and it may have died with the head.
  await newNeighbour();
  const records = async () => await Promise.all(ids.map(get));
  for (const end = Date.now() + SETTLED_MS; Date.now() < end; await delay(2_000))
    if ((await records()).every(({ state }) => isFinal(state))) break;
  sampling.abort();
  await sampled;
  const all = await records();
  for (const { id, state, reason } of all) {
    if (state !== 'succeeded') violations.push(`${id} is ${state}: ${reason}`);
    violations.push(...resumeViolations(id));
  }
  const attempts = all.reduce((sum, { attempt }) => sum + attempt, 0);
  const done = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const summary = `${done} operations, ${all.length} experiments, ${attempts} attempts, ${samples} samples, ${violations.length} violations`;
  console.log([...counts].map(([name, count]) => `${count} × ${name}`).join('\n'));
  console.log([summary, ...violations].join('\n'));
  if (values.write) write(attempts, all.length, done);
  process.exitCode = violations.length > 0 ? 1 : 0;
} finally {
  neighbour.end();
  ray.stop();
  for (const role of [api, dispatcher]) role.kill('SIGKILL');
  await redis.server.stop(5_000);
  rmSync(stateDir, { recursive: true, force: true });
}

function write(attempts: number, experiments: number, done: number): void {
  const rows = [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `| ${name} | ${count} |`);
  const machine = `${new Date().toISOString().slice(0, 10)}, ${cpus().length} processors, Node ${process.version}`;
  writeFileSync(
    PAGE,
    `# Faults of a cluster

\`npm run test:clusters -- --operations N --minutes M --seed S --write\` makes random operations on a real Ray of a head and three nodes of 4
logical GPUs, with an api, a dispatcher and a Redis as processes. The trainings are programs of the engine \`command\` that save a
checkpoint after each step. Once a second the campaign compares new allocations with what another Ray job has had for six seconds. At the end it gives
the GPUs of the other job back and waits for all experiments.

It checks three guarantees. The GPUs of no node are promised twice. Every experiment succeeds, with \`maxAttempts: 1\`: a fault of the cluster
that counted as one of the program would fail it. Every attempt begins at the newest reported checkpoint.

The last run that was written: seed ${values.seed}, ${machine}. **${done} operations, ${experiments} experiments in ${attempts} attempts, ${samples} comparisons,
${violations.length} violations.**

| operation | times |
| --- | --- |
${rows.join('\n')}
`,
  );
}
