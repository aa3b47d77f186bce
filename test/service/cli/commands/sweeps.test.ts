import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { SweepAccepted, SweepDetail, SweepPage } from '../../../../src/schemas/sweep.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { expandAll } from '../../../support/sweep.ts';

const { store, connection } = await apiFor({ after });
const folder = await mkdtemp(join(tmpdir(), 'echelon-cli-sweeps-'));
after(() => rm(folder, { recursive: true, force: true }));
const file = join(folder, 'sweep.yaml');
await writeFile(file, 'name: s\nmethod: grid\nspec: { engine: replay }\naxes: { replay.batches: [1, 2] }\n');

async function echelon(...argv: string[]) {
  const output = keptOutput();
  const [part, ...rest] = argv;
  const ended = await runProgram(output, ['sweeps', part!, ...connection, ...rest]);
  return { ...ended, output };
}

test('a dry run shows the children and submits nothing', async () => {
  const { output } = await echelon('submit', file, '--dry-run');
  assert.match(output.lines.join('\n'), /^2 valid children.*\n {2}0 {2}s: batches=1\n {2}1 {2}s: batches=2$/);
  assert.equal(
    (await echelon('ls')).output.lines[0],
    'No sweeps. Submit one with `echelon sweeps submit FILE`.',
  );
});

test('a sweep is submitted once per idempotency key, listed, shown, compared and cancelled', async () => {
  const first = (
    await echelon('submit', file, '--json', '--idempotency-key', 'k')
  ).output.json<SweepAccepted>();
  const { output } = await echelon('submit', file, '--idempotency-key', 'k');
  assert.deepEqual([output.lines, output.remarks], [[first.id], ['2 children']]);
  await expandAll(store, first.id);
  assert.match((await echelon('ls')).output.lines.join('\n'), /s +running +2 +2 queued +-/);
  assert.equal((await echelon('ls', '--json')).output.json<SweepPage>().items[0]!.id, first.id);
  const shown = (await echelon('get', first.id)).output.lines.join('\n');
  assert.match(shown, /\/replay\/batches\n0 +exp-\w+ +queued +- +1\n1 +exp-\w+ +queued +- +2/);
  assert.match((await echelon('compare', first.id, '-m', 'm')).output.lines.join('\n'), /1 +0\/1 +- +0/);
  const rerun = keptOutput();
  await runProgram(rerun, ['rerun', first.id, ...connection]);
  assert.equal(rerun.lines[0], 'No child has failed; nothing runs again.');
  const refused = await runProgram(rerun, ['rerun', first.id, '--set', 'x=1', ...connection]);
  assert.equal(refused.exitCode, 2);
  const alone = keptOutput();
  await runProgram(alone, ['sweeps', ...connection]);
  assert.match(alone.lines.join('\n'), new RegExp(first.id));
  await runProgram(alone, ['cancel', first.id, ...connection]);
  assert.equal(alone.lines.at(-1), `${first.id} cancelled`);
});

test('a cancelled sweep never creates its remaining children', async () => {
  const { id } = (await echelon('submit', file, '--json')).output.json<SweepAccepted>();
  const said = async () => (await echelon('get', id)).output.lines.join('\n');
  assert.match(await said(), /^2 not yet created$/m);
  await runProgram(keptOutput(), ['cancel', id, ...connection]);
  assert.match(await said(), /^2 never created$/m);
  assert.match(await said(), /^1 +exp-\w+ +never created/m);
});

test('a sweep that does not exist prints nothing on standard output', async () => {
  const detail = await echelon('get', 'swp-x', '--json');
  assert.equal(detail.exitCode, 4);
  assert.throws(() => detail.output.json<SweepDetail>());
});
