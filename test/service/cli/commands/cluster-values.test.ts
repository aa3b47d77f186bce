import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { labelOption, variableOption } from '../../../../src/cli/commands/cluster-values.ts';
import type { ClusterView } from '../../../../src/schemas/api.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { clusterRecord } from '../../../support/store.ts';

const { store, connection } = await apiFor({ after });
await store.clusters.put(clusterRecord({ name: 'fleet', generation: 'g', lastSeenAt: Date.now() }));

async function run(...argv: string[]) {
  const output = keptOutput();
  return { output, ...(await runProgram(output, ['clusters', ...argv, ...connection])) };
}

const update = (...argv: string[]) => run('update', 'fleet', ...argv);

/** What the command says of the labels, or of the environment. */
const said = async (name: string, ...argv: string[]) =>
  (await update(...argv)).output.lines
    .join('\n')
    .split('\n')
    .find((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2);

test('labels are set, taken away and shown, and the other settings stay', async () => {
  assert.equal(await said('labels'), 'none');
  assert.equal(await said('labels', '--label', 'gpu=h100', '--label', 'zone=x'), 'gpu=h100 zone=x');
  assert.equal(await said('labels', '--label', 'zone=', '--storage', 'lustre'), 'gpu=h100');
  assert.equal(await said('storage'), 'lustre');
  await assert.rejects(update('--label', 'gpu'), /must be key=value/);
});

test('variables are set, removed and shown, and a value may contain =', async () => {
  assert.equal(await said('environment'), 'none');
  const set = await said('environment', '--env', 'HF_HOME=/shared/hf', '--env', 'NCCL_SOCKET_IFNAME=^lo=x');
  assert.equal(set, 'HF_HOME=/shared/hf NCCL_SOCKET_IFNAME=^lo=x');
  assert.equal(await said('environment', '--env', 'HF_HOME='), 'NCCL_SOCKET_IFNAME=^lo=x');
});

test('a variable of Ray and a secret in plain text are refused for a cluster, and nothing changes', async () => {
  const before = await said('environment');
  assert.match((await update('--env', 'RAY_ADDRESS=x:1')).error!.message, /env\/RAY_ADDRESS/);
  const secret = await update('--env', `HF_TOKEN=hf_${'a1B2'.repeat(8)}`);
  assert.match(secret.error!.message, /Hugging Face token/);
  assert.equal(await said('environment'), before);
});

test('a label and a variable of `add` are key=value, and may be repeated', async () => {
  assert.deepEqual(labelOption('b=2', labelOption('a=1')), { a: '1', b: '2' });
  assert.throws(() => labelOption('a='));
  assert.deepEqual(variableOption('B=', variableOption('A=x=y')), { A: 'x=y', B: '' });
  assert.throws(() => variableOption('=x'));
  await run('add', 'new', 'ray://h:1', '--label', 'gpu=h100', '--label', 'zone=x', '--env', 'HF_HOME=/s');
  const { id } = (await store.commands.open())[0]!;
  const taken = await store.commands.claim({ id, dispatcher: 'd', leaseMs: 1000 });
  assert.ok(taken.outcome === 'claimed');
  const { labels, env } = taken.claimed.request as { labels: object; env: object };
  assert.deepEqual([labels, env], [{ gpu: 'h100', zone: 'x' }, { HF_HOME: '/s' }]);
});

test('labels that several people set at once are all set', async () => {
  const words = Array.from({ length: 6 }, (_one, at) => `key${at}=x`);
  // Fails where labels are read and written without a look at what changed in between.
  const ran = await Promise.all(words.map((word) => update('--label', word)));
  for (const { error } of ran) assert.equal(error, undefined);
  const shown = (await said('labels'))!;
  for (const word of words) assert.ok(shown.includes(word), `${word} in ${shown}`);
});

await store.clusters.put(clusterRecord({ name: 'fleet', generation: 'g', lastSeenAt: Date.now() }));

test('a cluster is paused with a reason, shown so, and resumed', async () => {
  assert.deepEqual((await run('pause', 'fleet', '--reason', 'dust')).output.lines, ['fleet is paused']);
  assert.equal((await store.queue.pauses()).clusters.get('fleet')?.reason, 'dust');
  assert.match((await run()).output.lines.join('\n'), /fleet +paused/);
  const { output } = await run('resume', 'fleet', '--json');
  assert.equal(output.json<ClusterView>().paused, null);
});
