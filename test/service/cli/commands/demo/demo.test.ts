import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type DemoReport, runDemo } from '../../../../../src/cli/commands/demo/demo.ts';
import { apiFor, keptOutput } from '../../../../support/cli.ts';
import { expandAll } from '../../../../support/sweep.ts';

test('cancelled experiments are reported as cancelled', async (t) => {
  const { store, client } = await apiFor(t);
  const directory = await mkdtemp(join(tmpdir(), 'echelon-demo-'));
  t.after(() => rm(directory, { recursive: true }));
  // There is no dispatcher: each submitted experiment is cancelled.
  const stop = await store.onWake(async () => {
    for (const sweep of await store.sweeps.withWork(1)) await expandAll(store, sweep);
    for (const { experiment } of await store.queue.first(10))
      await store.experiments.cancel(experiment, 'there is no dispatcher');
  });
  t.after(stop);
  const reportFile = join(directory, 'report.json');
  const output = keptOutput();
  const report = await runDemo({ client, output, reportFile });
  assert.equal(report.experiments.length, 12);
  for (const { state, success, rows } of report.experiments)
    assert.deepEqual([state, success, rows], ['cancelled', null, 0]);
  assert.deepEqual(report.comparison, []);
  for (const found of [report.fault, report.stepFault]) assert.deepEqual(found, { detected: false, rows: 0 });
  assert.deepEqual(JSON.parse(await readFile(reportFile, 'utf8')) as DemoReport, report);
  assert.deepEqual(Object.keys(report), ['experiments', 'comparison', 'fault', 'stepFault', 'seconds']);
  assert.deepEqual(
    Object.keys(report.experiments[0]!).join(' '),
    'name estimator state steps success rows exact rounding wrong',
  );
  assert.match(output.lines.join('\n'), /not detected/);
});
