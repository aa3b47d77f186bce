import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { clusterTable } from '../../../../src/cli/commands/clusters.ts';
import { EchelonError } from '../../../../src/core/errors.ts';
import type { ClusterView } from '../../../../src/schemas/api.ts';
import type { Command } from '../../../../src/schemas/clusters.ts';
import type { Store } from '../../../../src/store/store.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { until } from '../../../support/dispatch.ts';
import { appFor, TOKEN } from '../../../support/http-app.ts';
import { storeThrough } from '../../../support/made-up-store.ts';
import { clusterRecord } from '../../../support/store.ts';

const { store, client, connection } = await apiFor({ after });
const directory = mkdtempSync(join(tmpdir(), 'echelon-clusters-'));
after(() => rmSync(directory, { recursive: true }));

async function run(...argv: string[]) {
  const output = keptOutput();
  return { output, ...(await runProgram(output, ['clusters', ...argv, ...connection])) };
}

/** Plays the dispatcher for the next command. */
async function carryOut(store: Store, end: Parameters<Store['commands']['end']>[1]): Promise<unknown> {
  const [open] = await until(async () => {
    const all = await store.commands.open();
    return all.length > 0 && all;
  }, 'a command came');
  const taken = await store.commands.claim({ id: open!.id, dispatcher: 'd', leaseMs: 60_000 });
  assert.ok(taken.outcome === 'claimed');
  await store.commands.report(taken.claimed.lease, 'connecting');
  await store.commands.end(taken.claimed.lease, end);
  return { ...taken.claimed, lease: undefined };
}

test('an empty list names the command that adds a cluster', async () => {
  assert.match((await run()).output.lines.join(), /echelon clusters add NAME/);
});

test('clusters add sends its options, shows the progress and returns at the end', async () => {
  const tokenFile = join(directory, 'token');
  writeFileSync(tokenFile, 'the-token\n');
  const problems = [{ severity: 'warning', message: 'open', remedy: 'close it' }] as const;
  const [{ output, exitCode }, given] = await Promise.all([
    run('add', 'new', 'ray://h:1', '--ray-token-file', tokenFile, '--port', '7400', '--wait'),
    carryOut(store, { state: 'succeeded', problems }),
  ]);
  assert.equal(exitCode, 0);
  assert.deepEqual(output.remarks, ['  connecting', 'warning: open\n  close it']);
  assert.deepEqual(output.lines, ['add new: connecting']);
  assert.deepEqual(given, {
    lease: undefined,
    kind: 'add',
    tries: 1,
    secret: '{"token":"the-token","tls":null}',
    request: {
      address: 'ray://h:1',
      sharedRoot: '~/echelon',
      node: null,
      port: 7400,
      advertise: null,
      backfill: false,
    },
  });
});

test('a failed command prints the remedy and sets the exit status', async () => {
  const problems = [{ severity: 'error', message: 'no way', remedy: 'open the port' }] as const;
  const [{ exitCode, error }] = await Promise.all([
    run('add', 'new', 'ray://h:1', '--wait'),
    carryOut(store, { state: 'failed', problems }),
  ]);
  assert.equal(exitCode, 1);
  assert.match(error!.message, /no way\s+open the port/);
});

test('--wait continues after a short absence of the store', async (t) => {
  let reads = 0;
  const faltering = storeThrough(store, (path, call) => {
    if (path !== 'commands.get') return call();
    reads += 1;
    if (reads === 4) return Promise.reject(new EchelonError('store-unavailable', 'The store is away.'));
    return call();
  });
  const { app } = await appFor(t, { store: faltering });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const output = keptOutput();
  const args = ['clusters', 'add', 'new', 'ray://h:1', '--wait', '--url', url, '--token', TOKEN];
  const [{ exitCode }] = await Promise.all([
    runProgram(output, args),
    until(() => reads > 4, 'it asks again').then(() => carryOut(store, { state: 'succeeded', problems: [] })),
  ]);
  assert.equal(exitCode, 0);
  assert.match(output.remarks[0]!, /The store is away\. Retrying/);
});

test('without --wait it prints the command, for scripts as JSON', async () => {
  const { output } = await run('add', 'new', 'ray://h:1', '--json');
  const { id, state } = output.json<Command>();
  assert.equal(state, 'queued');
  assert.equal((await store.commands.get(id))?.kind, 'add');
  await carryOut(store, { state: 'failed', problems: [] });
});

test('wrong usage is refused before a request is sent', async () => {
  assert.equal(
    (await run('add', 'new', 'ray://h:1', '--ray-token-file', join(directory, 'none'))).exitCode,
    2,
  );
  assert.match((await run('drain', 'none')).error!.message, /no cluster none/);
  assert.equal((await run('delete', 'none')).exitCode, 4);
  assert.deepEqual(await store.commands.open(), []);
});

test('the table counts nodes, free and allocated resources', () => {
  const node = {
    cpusTotal: 8,
    gpusTotal: 4,
    cpusUsed: 2,
    gpusUsed: 1,
    cpusAllocated: 3,
    gpusAllocated: 2,
    cpusFree: 5,
    gpusFree: 2,
    state: 'ready' as const,
    stateReason: '',
    health: null,
  };
  const cluster: ClusterView = {
    name: 'a',
    address: 'h:1',
    tls: false,
    rayAddress: null,
    rayVersion: '2.60.0',
    rayWorkerVersion: '0.1.0',
    sharedRoot: '/s',
    draining: false,
    answering: true,
    backfill: false,
    lastSeenAt: 1000,
    labels: {},
    codePaths: [],
    runtimeEnv: [],
    checkpointStores: {},
    secretProjects: null,
    env: {},
    storage: null,
    nodeTypes: [],
    autoscaler: null,
    slurm: null,
    paused: null,
    nodes: [
      { id: 'n', ...node, labels: {} },
      { id: 'm', ...node, labels: {}, gpusFree: 0 },
    ],
    experiments: ['x'],
    unknownAttempts: [],
  };
  const unknownAttempts = [{ experiment: 'lost', attempt: 1 }];
  const autoscaler = { nodes: [{ gpus: 4, cpus: 16, count: 2 }], since: 1 };
  const text = clusterTable(
    [
      { ...cluster, autoscaler },
      { ...cluster, name: 'b', answering: false, draining: true, lastSeenAt: null, unknownAttempts },
    ],
    6000,
  );
  const [, first, second] = text.split('\n');
  assert.match(first!, /^a +2 nodes asked for +2 +2\/8 +4 +10\/16 +1 +0\.1\.0 +2\.60\.0 +5 s ago$/);
  assert.match(second!, /^b +silent, draining, 1 unknown attempt .* never$/);
});

test('clusters update states the storage and the node types, and `none` deletes them', async () => {
  await store.clusters.put(clusterRecord({ name: 'scaled', address: 'h:2', token: 't' }));
  const types = ['--node-type', 'gpus=4,cpus=32,max=8,gpu=a100', '--node-type', 'cpus=16,max=2'];
  const { output, exitCode } = await run('update', 'scaled', '--storage', 'lustre-a', ...types);
  assert.equal(exitCode, 0);
  assert.deepEqual(output.lines.join('\n').split('\n'), [
    'labels: none',
    'environment: none',
    'storage: lustre-a',
    'node type: gpus=4,cpus=32,max=8,gpu=a100',
    'node type: gpus=0,cpus=16,max=2',
  ]);
  assert.equal((await run('update', 'scaled', '--storage', 'none', '--node-type', 'none')).exitCode, 0);
  const { storage, nodeTypes } = await client.get('/v1/clusters/{name}', { path: { name: 'scaled' } });
  assert.deepEqual([storage, nodeTypes], [null, []]);
  await assert.rejects(run('update', 'scaled', '--node-type', '4'), /must be gpus=N,cpus=N,max=N/);
});
