import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { BUGS, batchOf } from '../../../scripts/gallery/bugs.ts';

const page = readFileSync('docs/gallery/index.md', 'utf8');

function echelon(...args: string[]) {
  return spawnSync(process.execPath, ['src/cli/main.ts', ...args], { encoding: 'utf8' });
}

test('the gallery has ten bugs, each with a thread of its own', () => {
  assert.equal(new Set(BUGS.map(({ link }) => link)).size, 10);
  for (const { link, name } of BUGS)
    assert.ok(page.includes(`[Thread](${link}), [file](${name}.json)`), name);
});

for (const bug of BUGS) {
  test(`${bug.title}: the verifier finds the mistake, the page shows its explanation, and right advantages pass`, (t) => {
    const file = `docs/gallery/${bug.name}.json`;
    assert.deepEqual(
      JSON.parse(readFileSync(file, 'utf8')),
      JSON.parse(JSON.stringify(batchOf(bug, 'wrong'))),
    );
    const [, counts, explain, shown] = new RegExp(
      `\\$ echelon verify ${file} .*\\n(.+)\\n\\$ echelon (explain .+)\\n([^]*?)\\n\`\`\``,
    ).exec(page)!;
    const found = echelon('verify', file);
    assert.equal(found.stdout.trim().split('\n').at(-1), counts);
    assert.equal(found.status, bug.row === undefined ? 1 : 0, found.stdout);
    assert.match(found.stdout, bug.row === undefined ? /error {3}wrong-rows/ : /warning rounding-rows/);
    assert.equal(echelon(...explain!.split(' ')).stdout.trim(), shown!.trim());

    const folder = mkdtempSync(join(tmpdir(), 'echelon-gallery-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const right = join(folder, 'right.json');
    writeFileSync(right, JSON.stringify(batchOf(bug, 'right')));
    const passed = echelon('verify', right);
    assert.equal(passed.status, 0, passed.stdout);
    assert.match(passed.stdout, / 0 rounding, 0 wrong, 0 unverifiable/);
  });
}
