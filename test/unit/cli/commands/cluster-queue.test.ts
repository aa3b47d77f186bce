import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { labelOption } from '../../../../src/cli/commands/cluster-queue.ts';
import { clustersCommand } from '../../../../src/cli/commands/clusters.ts';
import type { ClusterView } from '../../../../src/schemas/api.ts';
import { apiFor, keptOutput, runCommand } from '../../../support/cli.ts';

const { store, connection } = await apiFor({ after });
await store.clusters.put({
  ...{ name: 'fleet', address: '127.0.0.1:9', token: 't', ca: null, backfill: false },
  ...{ generation: 'g', lastSeenAt: Date.now(), nodes: [] },
});

async function run(...argv: string[]) {
  const output = keptOutput();
  return { output, ...(await runCommand([clustersCommand(output)], ['clusters', ...argv, ...connection])) };
}

test('a cluster is paused with a reason, shown so, and resumed', async () => {
  assert.deepEqual((await run('pause', 'fleet', '--reason', 'dust')).output.lines, ['fleet is paused']);
  assert.equal((await store.queue.pauses()).clusters.get('fleet')?.reason, 'dust');
  assert.match((await run()).output.lines.join('\n'), /fleet +paused/);
  const { output } = await run('resume', 'fleet', '--json');
  assert.equal(output.json<ClusterView>().paused, null);
});

test('labels are set, taken away and shown', async () => {
  assert.deepEqual((await run('label', 'fleet')).output.lines, ['no labels']);
  assert.deepEqual((await run('label', 'fleet', 'gpu=h100', 'zone=x')).output.lines, ['gpu=h100 zone=x']);
  assert.deepEqual((await run('label', 'fleet', 'zone=')).output.lines, ['gpu=h100']);
  assert.equal((await run('label', 'fleet', 'gpu')).exitCode, 2);
});

test('a label of `add` is key=value, and may be repeated', async () => {
  assert.deepEqual(labelOption('b=2', labelOption('a=1')), { a: '1', b: '2' });
  assert.throws(() => labelOption('a='));
  await run('add', 'new', 'ray://h:1', '--label', 'gpu=h100', '--label', 'zone=x');
  const { id } = (await store.commands.open())[0]!;
  const taken = await store.commands.claim({ id, dispatcher: 'd', leaseMs: 1000 });
  assert.ok(taken.outcome === 'claimed');
  assert.deepEqual((taken.claimed.request as { labels: object }).labels, { gpu: 'h100', zone: 'x' });
});

test('labels that several people set at once are all set', async () => {
  const words = Array.from({ length: 6 }, (_one, at) => `key${at}=x`);
  // Fails where labels are read and written without a look at what changed in between.
  const ran = await Promise.all(words.map((word) => run('label', 'fleet', word)));
  for (const { error } of ran) assert.equal(error, undefined);
  const shown = (await run('label', 'fleet')).output.lines[0]!;
  for (const word of words) assert.ok(shown.includes(word), `${word} in ${shown}`);
});
