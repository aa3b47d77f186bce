import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { PreflightFinding } from '../../../../src/schemas/clusters.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { until } from '../../../support/dispatch.ts';
import { clusterRecord } from '../../../support/store.ts';

const { store, connection } = await apiFor({ after });
const directory = mkdtempSync(join(tmpdir(), 'echelon-preflight-'));
after(() => rmSync(directory, { recursive: true }));
const file = join(directory, 'spec.yaml');
writeFileSync(file, 'name: x\nengine: replay\n');
await store.clusters.put(clusterRecord({ name: 'fleet', address: 'h:1' }));

const GOOD: PreflightFinding = { severity: 'ok', check: 'recipe', message: 'fine', remedy: '' };
const BAD: PreflightFinding = { severity: 'error', check: 'model', message: 'not there', remedy: 'copy it' };

/** Runs the command, and plays the dispatcher that finds `findings`. */
async function run(findings: PreflightFinding[], ...argv: string[]) {
  const output = keptOutput();
  const running = runProgram(output, ['preflight', ...argv, ...connection]);
  const id = await until(async () => (await store.commands.open())[0]?.id, 'a command came');
  const taken = await store.commands.claim({ id, dispatcher: 'd', leaseMs: 60_000 });
  assert.ok(taken.outcome === 'claimed');
  await store.commands.end(taken.claimed.lease, { state: 'succeeded', problems: [], findings });
  return { output, request: taken.claimed.request, ...(await running) };
}

test('an error is shown with its remedy, and the exit status says so', async () => {
  const { output, exitCode, request } = await run([BAD, GOOD], file, '--cluster', 'fleet');
  assert.equal(exitCode, 1);
  assert.match(output.lines.join('\n'), /error +model +not there\n +→ copy it/);
  assert.ok(!output.lines.join('\n').includes('fine'));
  assert.equal((request as { spec: { cluster: string } }).spec.cluster, 'fleet');
});

test('without findings preflight prints one line; --all shows successful checks', async () => {
  const { output, exitCode } = await run([GOOD], file);
  assert.deepEqual([exitCode, output.lines], [0, ['1 check on fleet: 0 errors, 0 warnings.']]);
  assert.match((await run([GOOD], '--cluster', 'fleet')).output.lines.join('\n'), /ok +recipe +fine/);
});

test('a look that takes longer is announced', async () => {
  const output = keptOutput();
  const running = runProgram(output, ['preflight', file, ...connection]);
  await until(async () => output.remarks[0], 'it is said that it takes longer');
  assert.equal(output.remarks[0], 'Checking fleet; this may take a few minutes.');
  const [open] = await store.commands.open();
  const taken = await store.commands.claim({ id: open!.id, dispatcher: 'd', leaseMs: 60_000 });
  assert.ok(taken.outcome === 'claimed');
  await store.commands.end(taken.claimed.lease, { state: 'succeeded', problems: [], findings: [GOOD] });
  assert.equal((await running).exitCode, 0);
});

test('scripts get the whole record', async () => {
  const { output } = await run([BAD], file, '--json');
  assert.deepEqual(output.json<{ findings: unknown }>().findings, [BAD]);
});

test('neither a file nor a cluster is wrong usage', async () => {
  const output = keptOutput();
  assert.equal((await runProgram(output, ['preflight', ...connection])).exitCode, 2);
});
