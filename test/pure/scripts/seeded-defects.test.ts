import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { DEFECTS } from '../../seeded/defects.ts';

test('each seeded defect edits one place of its file and names tests that exist', () => {
  for (const { id, file, find, replace, tests } of DEFECTS) {
    assert.equal(readFileSync(file, 'utf8').split(find).length, 2, `${id}: ${file}`);
    assert.notEqual(find, replace, id);
    for (const name of tests) assert.ok(existsSync(name), name);
  }
});

test('docs/evidence/seeded-defects.md states for each seeded defect by which test it is caught', () => {
  const page = readFileSync('docs/evidence/seeded-defects.md', 'utf8');
  const caught = [...page.matchAll(/^\| `([\w-]+)` \|.*\| `[^`]+` \| (?!\*\*missed)[^|]+ \|$/gm)].map(
    ([, id]) => id,
  );
  assert.deepEqual(
    caught,
    DEFECTS.map(({ id }) => id),
  );
});
