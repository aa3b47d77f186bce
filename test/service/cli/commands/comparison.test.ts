import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { runProgram } from '../../../support/cli.ts';

/** Solved games of 20, by method and seed. */
const SOLVED: Record<string, number[]> = { hgpo: [18, 15, 17, 16], gigpo: [14, 13, 16, 12] };
const SCRIPT = 'deploy/examples/recompute_comparison.py';
const run = promisify(execFile);
const NAMES = ['--candidate', 'hgpo', '--baseline', 'gigpo'];

let place: string;
let file: string;
before(async () => {
  place = await mkdtemp(join(tmpdir(), 'echelon-comparison-'));
  file = join(place, 'games.csv');
  await writeFile(file, csvOf(SOLVED));
});
after(() => rm(place, { recursive: true, force: true }));

function csvOf(solved: Record<string, number[]>): string {
  const lines = ['method,seed,game,success'];
  for (const [method, seeds] of Object.entries(solved))
    for (const [seed, count] of seeds.entries())
      for (let game = 0; game < 20; game += 1)
        lines.push(`${method},${seed},"room, number ${game}",${Number(game < count)}`);
  return lines.join('\n');
}

async function comparison(...args: string[]): Promise<string> {
  const lines: string[] = [];
  const output = { line: (text = '') => lines.push(text), remark: (text: string) => lines.push(text) };
  const { error } = await runProgram(output, ['comparison', ...args]);
  if (error) throw error;
  return lines.join('\n');
}

test('the judgement of a file states the seeds, the interval and what it means', async () => {
  const text = await comparison('judge', file, ...NAMES);
  assert.match(text, /^4 seeds × 20 games × 1 replicates$/m);
  assert.match(text, /^0 +90\.0 +70\.0 +\+20\.0$/m);
  assert.match(text, /^hgpo is better; the size is open$/m);
  assert.match(text, /^difference \+13\.8 points, 95 % interval \+1\.8 to \+25\.7, margin 3$/m);
});

test('the example that uses numpy alone recomputes the same figures', async () => {
  const { stdout } = await run('.venv/bin/python', [SCRIPT, file, 'hgpo', 'gigpo']);
  const { difference } = JSON.parse(await comparison('judge', file, ...NAMES, '--json'));
  const [mean, low, high, flips] = [...stdout.matchAll(/[+-]?\d+\.\d+/g)].map(Number);
  assert.ok(Math.abs(mean! - 100 * difference.mean) < 1e-3);
  assert.ok(Math.abs(low! - 100 * difference.interval[0]) < 0.01, stdout);
  assert.ok(Math.abs(high! - 100 * difference.interval[1]) < 0.01, stdout);
  assert.equal(flips, difference.signFlipP);
});

test('the kept comparison has the result that its games give', async () => {
  const games = join(place, 'kept.csv');
  await writeFile(games, gunzipSync(await readFile('docs/evidence/comparison-games.csv.gz')));
  const text = await comparison('judge', games, ...NAMES, '--margin', '5');
  const page = await readFile('docs/evidence/comparison.md', 'utf8');
  const { stdout } = await run('.venv/bin/python', [SCRIPT, games, 'hgpo', 'gigpo']);
  assert.ok(page.includes(stdout), stdout);
  const interval = /difference -[\d.]+ points, 95 % interval -[\d.]+ to -[\d.]+/.exec(text)?.[0];
  assert.ok(page.includes(interval!), text);
  for (const [, own, other, difference] of text.matchAll(/^\w+ +([\d.]+) +([\d.]+) +([-+][\d.]+)$/gm))
    assert.ok(
      [own, other, difference].every((one) => page.includes(` ${one} |`)),
      difference,
    );
});

test('a missing run, an unknown method and a value that is no success are refused with their place', async () => {
  const other = join(place, 'other.csv');
  await writeFile(other, csvOf({ ...SOLVED, hgpo: [18] }));
  await assert.rejects(comparison('judge', other, ...NAMES), {
    message: /hgpo has no results of seed 1\. Repeat/,
  });
  await assert.rejects(comparison('judge', file, '--candidate', 'grpo', '--baseline', 'hgpo'), {
    message: /no method grpo\. It has hgpo, gigpo\./,
  });
  await writeFile(other, 'method,seed,game,success\na,0,g,yes');
  await assert.rejects(comparison('judge', other, ...NAMES), { message: /result 1 is "yes"/ });
  await writeFile(other, 'method,seed,success\na,0,1');
  await assert.rejects(comparison('judge', other, ...NAMES), { message: /no column game/ });
});
