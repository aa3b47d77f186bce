import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

/** What a later Node has; packages.full.test.ts runs a package without it. */
const LATER =
  /\b(?:(?:Map|Object)\.groupBy|Array\.fromAsync|Promise\.(?:withResolvers|try)|getFloat16|f16round)\b/;

for (const name of ['echelon-verify', 'ray-client-ts', 'echelon-client'])
  test(`${name} uses nothing that Node 20 lacks`, async () => {
    const folder = join('packages', name);
    const { engines } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    assert.deepEqual(engines, { node: '>=20.16' });
    let read = 0;
    for await (const file of glob('src/**/*.ts', { cwd: folder })) {
      assert.doesNotMatch(readFileSync(join(folder, file), 'utf8'), LATER, file);
      read += 1;
    }
    assert.ok(read > 10, `${read} files`);
  });
