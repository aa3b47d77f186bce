import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
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
import { startObjectStore } from './object-store.ts';
import {
  type CampaignRay,
  GPUS,
  kill,
  MAX_BROUGHT,
  type Neighbour,
  processesWith,
  startNeighbour,
  startRay,
} from './ray.ts';

/*
 * Random operations on a real Ray of a head and three nodes of 4 logical GPUs: experiments and gangs, drained nodes, killed
 * raylets, heads, ray-workers and dispatchers, another user's job, a second installation, an S3 server that fails; and on a second
 * Ray, whose nodes its fake autoscaler brings. See docs/evidence/clusters.md.
 */

const CLUSTER = 'fleet';
/** It has no node until experiments ask for them. */
const AUTOSCALED = 'autoscaled';
const ADDRESSES = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];
/** What another user took this long before a report of the ray-worker is in the report. */
const KNOWN_MS = 6_000;
/** The experiments are waited for as long as one of them changes its state within this time. */
const STUCK_MS = 180_000;
/** The fake autoscaler releases a node that is idle for 6 s. */
const RELEASED_MS = 90_000;
/** A supervisor ends soon after its attempt. */
const LEFT_MS = 30_000;
const MAX_OPEN = 10;
const LEASE_MS = 6_000;

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '60' },
    minutes: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) {
  console.log('npm run test:clusters -- [--operations N] [--minutes M] [--seed S]');
  process.exit(0);
}

const random = randomFrom(Number(values.seed));
const violations: string[] = [];
const counts = new Map<string, number>();
// First, since it may lack what it needs.
const objectStore = await startObjectStore();
const ray: CampaignRay & { gcs: string } = await startRay(ADDRESSES);
const autoscaled = await startRay([], { autoscaled: true });
let neighbour: Neighbour = await startNeighbour(ray.gcs);
const stateDir = mkdtempSync(join(tmpdir(), 'echelon-clusters-'));
const rootOf = (cluster: string) => join(stateDir, cluster);
const supervisors = () => processesWith('echelon_rayworker.supervisor', stateDir);
const redis = await startRedis({ directory: join(stateDir, 'redis'), environment: process.env });
const environment = {
  ...process.env,
  REDIS_URL: redis.socket,
  ECHELON_STATE_DIR: stateDir,
  ECHELON_TOKENS: TOKEN,
  ECHELON_PORT: '0',
  ECHELON_LEASE_MS: String(LEASE_MS),
};
const [api, url] = await spawnRole(['api'], environment, /listening on (\S+)/);
const startDispatcher = async () => (await spawnRole(['dispatcher'], environment, /(dispatching)/))[0];
let dispatcher: RoleProcess = await startDispatcher();
interface Held {
  held: [group: string, node: string, gpus: number][];
}

/** When each placement group of the neighbour was first seen on its node. */
const heldSince = new Map<string, number>();
/** The time of each cluster's report at the last sample: what is allocated since then was chosen with it or a newer one. */
const reportedAt = new Map<string, number>();
/** Allocations that were compared: an attempt's on a node. */
const compared = new Set<string>();
/** The submitted experiments, with the steps of those that keep checkpoints in the store. */
const submitted = new Map<string, number | undefined>();
let samples = 0;
/** The most nodes with GPUs that the autoscaled cluster had at once. */
let brought = 0;

const client = createClient({ url, token: TOKEN });
const get = (id: string) => client.get('/v1/experiments/{id}', { path: { id } });
const view = (name = CLUSTER) => client.get('/v1/clusters/{name}', { path: { name } });
const gpuNodes = async () => (await view(AUTOSCALED)).nodes.filter(({ gpusTotal }) => gpusTotal > 0).length;

async function addCluster(name: string, { address }: CampaignRay): Promise<void> {
  mkdirSync(rootOf(name));
  const nodeTypes = name === AUTOSCALED ? [{ gpus: GPUS, cpus: GPUS, max: MAX_BROUGHT }] : [];
  const { id } = await client.post('/v1/clusters', {
    body: { name, address, sharedRoot: rootOf(name), nodeTypes },
  });
  const ended = await commandEnded(client, id, 180_000);
  assert.equal(ended.state, 'succeeded', JSON.stringify(ended.problems));
  const checkpointStores = { [objectStore.spec.checkpointStore.url]: ['*'] };
  await client.patch('/v1/clusters/{name}', { path: { name }, body: { checkpointStores } });
}

/**
 * Nothing new is allocated on GPUs that are allocated or that the neighbour has had for a while. It may take GPUs between an allocation and
 * its driver's start: then Ray is the judge, and the attempt ends as `gpus-short`.
 */
async function sample(): Promise<void> {
  const before = await neighbour.ask<Held>('held');
  for (const [group, node] of before.held) heldSince.set(`${group} ${node}`, heldAt(group, node));
  const clusters = [await view(), await view(AUTOSCALED)];
  const { items } = await client.get('/v1/allocations');
  // What it has given back meanwhile may be allocated.
  const { held } = await neighbour.ask<Held>('held');
  samples += 1;
  brought = Math.max(brought, await gpuNodes());
  for (const { id, gpusTotal, reported } of clusters.flatMap(nodesOf)) {
    const here = items.filter(({ node }) => node === id);
    const fresh = here.filter((item) => !compared.has(`${item.experiment}/${item.attempt} ${id}`));
    for (const item of fresh) compared.add(`${item.experiment}/${item.attempt} ${id}`);
    const own = here.reduce((sum, { gpus }) => sum + gpus, 0);
    const others = held
      .filter(([group, node]) => node === id && reported - heldAt(group, node) > KNOWN_MS)
      .reduce((sum, [, , gpus]) => sum + gpus, 0);
    if (own > gpusTotal + 1e-6 || (fresh.length > 0 && own + others > gpusTotal + 1e-6))
      violations.push(
        `${own} GPUs of node ${id.slice(0, 8)} are allocated and ${others} are another job's, of ${gpusTotal}`,
      );
  }
  for (const { name, lastSeenAt } of clusters) reportedAt.set(name, lastSeenAt ?? 0);
}

/** When the neighbour was first seen to have this; now if it was not. */
function heldAt(group: string, node: string): number {
  return heldSince.get(`${group} ${node}`) ?? Date.now();
}

function nodesOf({ name, nodes }: Awaited<ReturnType<typeof view>>) {
  return nodes.map((node) => ({ ...node, reported: reportedAt.get(name) ?? 0 }));
}

async function newNeighbour(): Promise<void> {
  neighbour.end();
  neighbour = await startNeighbour(ray.gcs);
}

/** Drains a node of Ray, waits until its experiments have left, and replaces it. */
async function drain(seconds: number): Promise<Skipped> {
  const address = pick(random, ADDRESSES);
  const node = (await neighbour.ask<Record<string, string>>('nodes'))[address];
  if (node === undefined) return 'skipped';
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

/** Submits an experiment, unless enough are open. */
async function submit(cluster: string): Promise<Skipped> {
  const open = (await client.get('/v1/experiments', { query: { limit: 100 } })).items.filter(
    (item) => !isFinal(item.state) && item.cluster === cluster,
  );
  if (open.length >= MAX_OPEN) return 'skipped';
  const nodes = random() < 0.2 ? 2 : 1;
  const steps = between(random, 4, 15);
  const stores = cluster === CLUSTER && random() < 0.5;
  const spec = {
    name: 'campaign',
    engine: 'command',
    cluster,
    command: ['python', 'train.py', '{experimentDir}', String(steps)],
    ...(stores && objectStore.spec),
    files: { 'train.py': readFileSync(join(import.meta.dirname, 'train.py'), 'utf8') },
    resume: ['{checkpoint}'],
    resources: { gpus: between(random, 1, GPUS + 1), cpus: nodes, nodes },
    maxAttempts: 1,
    maxClusterFaults: 50,
    gracePeriodSeconds: 2,
  };
  const { id } = await client.post('/v1/experiments', { body: spec as ExperimentSpec });
  submitted.set(id, stores ? steps : undefined);
}

/** An operation may have nothing to do; it is then not counted. */
type Skipped = 'skipped' | undefined;

/** Name, weight and effect of each operation. */
const OPERATIONS: readonly [name: string, weight: number, run: () => Promise<unknown>][] = [
  ['submit an experiment or a gang', 30, () => submit(CLUSTER)],
  ['submit an experiment or a gang for nodes of an autoscaler', 8, () => submit(AUTOSCALED)],
  ['kill -9 of the head of the autoscaled cluster', 0.7, () => autoscaled.replaceHead()],
  ['S3 refuses connections for some seconds', 3, () => objectStore.isAway(between(random, 2_000, 12_000))],
  ['open connections to S3 go silent', 3, async () => objectStore.goesSilent()],
  [
    'another job takes GPUs that are free',
    12,
    async () => {
      const free = Math.max(0, ...(await view()).nodes.map(({ gpusFree }) => gpusFree));
      const gpus = Math.min(free, between(random, 1, 3));
      if (gpus < 1) return 'skipped';
      await neighbour.ask('take', gpus);
    },
  ],
  [
    'another job gives GPUs back',
    12,
    async () => {
      const { held } = await neighbour.ask<{ held: unknown[] }>('held');
      if (held.length === 0) return 'skipped';
      await neighbour.ask('give', 1);
    },
  ],
  ['Ray drains a node without a deadline', 2, () => drain(0)],
  ['Ray drains a node with a deadline', 2, () => drain(25)],
  ['kill -9 of all processes of a node', 3, () => replaceNode(pick(random, ADDRESSES))],
  [
    'kill -9 of the ray-worker',
    3,
    async () => {
      for (const pid of pick(random, [ray, autoscaled]).rayWorkers()) kill(pid);
    },
  ],
  [
    'SIGSTOP of a supervisor, longer than a lease',
    3,
    async () => {
      const found = supervisors();
      if (found.length === 0) return 'skipped';
      const pid = pick(random, found);
      kill(pid, 'SIGSTOP');
      await delay(between(random, 1.2 * LEASE_MS, 2 * LEASE_MS));
      kill(pid, 'SIGCONT');
    },
  ],
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
  const files = [CLUSTER, AUTOSCALED]
    .map((name) => join(rootOf(name), 'echelon', name, 'experiments', id, 'notes.jsonl'))
    .filter((file) => existsSync(file));
  if (files.length === 0) return [`${id} has left no notes`];
  const text = readFileSync(files[0]!, 'utf8');
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
  if ((await run()) === 'skipped') return;
  counts.set(name, (counts.get(name) ?? 0) + 1);
  console.log(`${new Date().toISOString().slice(11, 19)} ${name} (${Date.now() - started} ms)`);
}

/** Ends every process of the campaign that has a session of its own. */
function end(): void {
  neighbour.end();
  ray.stop();
  autoscaled.stop();
  for (const role of [api, dispatcher]) role.kill('SIGKILL');
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    end();
    process.exit(1);
  });

try {
  await addCluster(CLUSTER, ray);
  await addCluster(AUTOSCALED, autoscaled);
  const sampling = new AbortController();
  const sampled = (async () => {
    while (!sampling.signal.aborted) {
      await sample().catch((error: Error) => console.log(`no sample: ${error.message.slice(0, 120)}`));
      await delay(1_000);
    }
  })();
  const until = Date.now() + Number(values.minutes) * 60_000;
  const done = () => [...counts.values()].reduce((sum, count) => sum + count, 0);
  while (done() < Number(values.operations) && Date.now() < until) {
    await operate().catch((error: Error) => console.log(`not carried out: ${error.message.slice(0, 200)}`));
    if (neighbour.hasEnded()) await newNeighbour();
    await delay(between(random, 200, 1_500));
  }
  // Its end gives back what it has, and it may have died with the head.
  await newNeighbour();
  const records = async () => await Promise.all([...submitted.keys()].map(get));
  let [states, changedAt] = ['', Date.now()];
  for (; Date.now() - changedAt < STUCK_MS; await delay(2_000)) {
    const now = await records();
    if (now.every(({ state }) => isFinal(state))) break;
    const text = now.map(({ state, attempt }) => `${state} ${attempt}`).join();
    if (text !== states) [states, changedAt] = [text, Date.now()];
  }
  for (const end = Date.now() + RELEASED_MS; (await gpuNodes()) > 0 && Date.now() < end; ) await delay(2_000);
  sampling.abort();
  await sampled;
  const all = await records();
  for (const { id, state, reason, waitReason } of all) {
    if (state !== 'succeeded') violations.push(`${id} is ${state}: ${reason}; wait reason: ${waitReason}`);
    violations.push(...resumeViolations(id));
    const steps = submitted.get(id);
    if (steps !== undefined) violations.push(...(await objectStore.problems(id, steps)));
  }
  for (const until = Date.now() + LEFT_MS; supervisors().length > 0 && Date.now() < until; ) await delay(500);
  if (supervisors().length > 0) violations.push(`${supervisors().length} supervisors are left`);
  const remaining = await gpuNodes();
  if (remaining > 0) violations.push(`the autoscaler has not released ${remaining} nodes`);
  if (brought > MAX_BROUGHT) violations.push(`the autoscaler brought ${brought} nodes`);
  const attempts = all.reduce((sum, { attempt }) => sum + attempt, 0);
  const summary = `${done()} operations, ${all.length} experiments, ${attempts} attempts, ${samples} samples, at most ${brought} autoscaled nodes at once, ${violations.length} violations`;
  console.log(
    [...counts]
      .map(([name, count]) => `| ${name} | ${count} |`)
      .toSorted()
      .join('\n'),
  );
  console.log([summary, ...violations].join('\n'));
  process.exitCode = violations.length > 0 ? 1 : 0;
} finally {
  end();
  await objectStore.stop();
  await redis.server.stop(5_000);
  rmSync(stateDir, { recursive: true, force: true });
}
