import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { cordonBroken } from '../../../../src/dispatch/clusters/faulty-nodes.ts';
import type { Log } from '../../../../src/dispatch/log.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { clusterRecord } from '../../../support/store.ts';

const { store, client, connection } = await apiFor({ after });
const size = { cpusTotal: 8, gpusTotal: 4, cpusUsed: 2, gpusUsed: 1 };
await store.clusters.put({
  ...clusterRecord({ name: 'fleet', address: 'h:1', token: 't' }),
  nodes: [
    {
      id: 'aa11',
      ...size,
      labels: { 'ray.io/accelerator-type': 'A100', 'ray.io/node-id': 'aa11', host: 'gpu-7', zone: 'a' },
    },
    { id: 'aa22', ...size, draining: { remainingMs: 600_000 } },
    { id: 'bb33', ...size },
  ],
});

async function run(...argv: string[]) {
  const output = keptOutput();
  return { output, ...(await runProgram(output, ['nodes', ...argv, ...connection])) };
}

const statesOf = async () => {
  const { nodes } = await client.get('/v1/clusters/{name}', { path: { name: 'fleet' } });
  return nodes.map(({ id, state, stateReason }) => [
    id,
    state,
    stateReason.replace(/by token-\w+/, 'by ann'),
  ]);
};

const DRAINED_BY_RAY = ['aa22', 'draining', 'Ray drains it and terminates it in about 10 min'];

test('nodes ls shows each node with its state and the reason in the words of the API', async () => {
  const { output, exitCode } = await run('ls');
  assert.equal(exitCode, 0);
  const [, ...lines] = output.lines.join('\n').split('\n');
  assert.match(lines[0]!, /^fleet +gpu-7 \(aa11\) +ready +3\/4 A100 +6\/8 +zone=a +-$/);
  assert.match(
    lines[1]!,
    /^fleet +aa22 +draining +3\/4 +6\/8 +- +Ray drains it and terminates it in about 10 min$/,
  );
});

test('cordon, drain and uncordon change the state of one node, and a start of its id names it', async () => {
  assert.equal((await run('cordon', 'fleet', 'bb', '--reason', 'ECC errors')).exitCode, 0);
  assert.deepEqual(await statesOf(), [
    ['aa11', 'ready', ''],
    DRAINED_BY_RAY,
    ['bb33', 'cordoned', 'cordoned by ann: ECC errors'],
  ]);
  assert.equal((await run('drain', 'fleet', 'aa11')).exitCode, 0);
  assert.deepEqual((await statesOf())[0], ['aa11', 'draining', 'drained by ann']);
  for (const node of ['aa11', 'bb33']) assert.equal((await run('uncordon', 'fleet', node)).exitCode, 0);
  assert.deepEqual(await statesOf(), [['aa11', 'ready', ''], DRAINED_BY_RAY, ['bb33', 'ready', '']]);
});

test('a node that the cluster does not have, and an ambiguous start of an id, are refused', async () => {
  assert.match((await run('cordon', 'fleet', 'cc')).error!.message, /Cluster fleet has no node cc/);
  assert.match((await run('cordon', 'fleet', 'aa')).error!.message, /has 2 nodes whose ids begin with aa/);
  assert.match((await run('cordon', 'none', 'aa11')).error!.message, /no cluster none/);
  assert.deepEqual((await store.clusters.list())[0]!.cordons, undefined);
});

test('two cordons at the same time are both recorded', async () => {
  await Promise.all([run('cordon', 'fleet', 'aa11'), run('cordon', 'fleet', 'bb33')]);
  assert.deepEqual(
    (await statesOf()).map(([, state]) => state),
    ['cordoned', 'draining', 'cordoned'],
  );
});

const gpu = (index: number, faults: string[]) => ({
  gpu: `${index}`,
  model: 'NVIDIA H100 80GB HBM3',
  utilizationPercent: 80,
  memoryPercent: 75,
  temperatureCelsius: 61,
  xid: faults.length > 0 ? 79 : 0,
  eccErrors: null,
  faults,
});
const withGpus = (id: string, faults: string[]) => ({
  id,
  ...size,
  health: { cpuPercent: 12.4, memoryPercent: 40, gpus: [gpu(0, []), gpu(1, faults)] },
});

test('a new fault of a GPU cordons its node until uncordon, and is shown as long as it is reported', async () => {
  await run('uncordon', 'fleet', 'aa11');
  await run('uncordon', 'fleet', 'bb33');
  const log = { warn: () => undefined } as unknown as Log;
  const report = async (faults: string[], more: string[] = []) => {
    const nodes = [withGpus('aa11', faults), withGpus('aa22', []), withGpus('bb33', more)];
    const cluster = (await store.clusters.list(['fleet']))[0]!;
    await cordonBroken({ store, cordon: { after: 3, forMs: 3_600_000 }, log }, cluster, nodes);
    await store.clusters.see('fleet', { address: 'h:1', generation: 'g', nodes });
  };
  const state = async () => (await statesOf()).map(([, one]) => one);
  await report(['Xid 79 (the GPU has fallen off the bus)']);
  const cordoned = [
    'aa11',
    'cordoned',
    'cordoned by echelon: GPU 1: Xid 79 (the GPU has fallen off the bus)',
  ];
  assert.deepEqual((await statesOf())[0], cordoned);
  // At least half of the nodes continue to accept experiments.
  await report(['Xid 79 (the GPU has fallen off the bus)'], ['2 uncorrectable ECC errors']);
  assert.deepEqual(await state(), ['cordoned', 'ready', 'ready']);
  await run('uncordon', 'fleet', 'aa11');
  await report(['Xid 79 (the GPU has fallen off the bus)']);
  // The cordon that waited for this is made.
  assert.deepEqual(await state(), ['ready', 'ready', 'cordoned']);
  await run('uncordon', 'fleet', 'bb33');
  await report(['Xid 79 (the GPU has fallen off the bus)']);
  assert.deepEqual(await state(), ['ready', 'ready', 'ready']);
  const { output } = await run('ls');
  assert.match(output.lines.join('\n'), /aa11 +ready .* GPU 1: Xid 79/);
  const figures = (await run('ls', '--health')).output.lines.join('\n').split('\n');
  assert.match(figures[1]!, /^fleet +aa11 +CPU +12 % +40 % +- +- +- +-$/);
  assert.match(figures[3]!, /^fleet +aa11 +GPU 1 +80 % +75 % +61 °C +79 +- +Xid 79/);
  await report([]);
  await report(['Xid 79 (the GPU has fallen off the bus)']);
  assert.deepEqual(await state(), ['cordoned', 'ready', 'ready']);
});
