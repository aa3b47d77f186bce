import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

test('docs/evidence/attacks.md names tests that exist, one for each attack', () => {
  const rows = readFileSync('docs/evidence/attacks.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| attack') && !line.startsWith('| ---'));
  assert.ok(rows.length > 30);
  for (const row of rows) {
    const [, , answer = '', shown = ''] = row.split('|').map((cell) => cell.trim());
    if (answer.startsWith('*not here*')) continue;
    const file = /^`([^`]+)`$/.exec(shown)?.[1];
    assert.ok(file !== undefined && existsSync(file), row);
  }
});
