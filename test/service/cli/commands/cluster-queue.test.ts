import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { ClusterView } from '../../../../src/schemas/api.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { clusterRecord } from '../../../support/store.ts';

const { store, connection } = await apiFor({ after });
await store.clusters.put(clusterRecord({ name: 'fleet', generation: 'g', lastSeenAt: Date.now() }));

async function run(...argv: string[]) {
  const output = keptOutput();
  return { output, ...(await runProgram(output, ['clusters', ...argv, ...connection])) };
}

test('a cluster is paused with a reason, shown so, and resumed', async () => {
  assert.deepEqual((await run('pause', 'fleet', '--reason', 'dust')).output.lines, ['fleet is paused']);
  assert.equal((await store.queue.pauses()).clusters.get('fleet')?.reason, 'dust');
  assert.match((await run()).output.lines.join('\n'), /fleet +paused/);
  const { output } = await run('resume', 'fleet', '--json');
  assert.equal(output.json<ClusterView>().paused, null);
});
