import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { SweepSeries } from '../../../../src/schemas/sweep.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { claimed } from '../../../support/store.ts';
import { expandAll, sweepInput, sweepRequest } from '../../../support/sweep.ts';

const { store, connection } = await apiFor({ after });

async function series(...argv: string[]) {
  const output = keptOutput();
  await runProgram(output, ['sweeps', 'series', ...connection, ...argv]);
  return output;
}

test('the series of a sweep is a table of means per combination and steps, or JSON', async () => {
  const { id } = await store.sweeps.create(sweepInput(sweepRequest(1)));
  const [child] = await expandAll(store, id);
  assert.match((await series(id)).lines[0]!, /^No child has recorded val\/success_rate\./);
  const lease = await claimed(store, child!);
  await store.attempts.confirm(lease);
  const event = { type: 'metrics' as const, step: 3, values: { m: 0.25 } };
  await store.events.append(lease, [{ sequence: 1, at: 1, event }]);
  assert.match(
    (await series(id, 'm')).lines.join('\n'),
    /\/replay\/batches +STEPS +N +MEAN.*\n0 +3 +1 +0\.2500 +-/,
  );
  const [first] = (await series(id, 'm', '--json')).json<SweepSeries>().items;
  assert.deepEqual([first!.points.length, first!.points[0]!.mean], [1, 0.25]);
});
