import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { attackFiles, findItems } from '../../../scripts/test/items.ts';

const rows = readFileSync('docs/evidence/guarantees.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('docs/evidence/guarantees.md names tests that exist, one at least for each guarantee and mechanism', () => {
  const named = rows.filter(([, first]) => first !== 'guarantee' && first !== 'mechanism');
  assert.ok(named.length > 50);
  for (const row of named) {
    const files = [...(row.at(-2) ?? '').matchAll(/`([^`]+)`/g)].map(([, file]) => file!);
    assert.ok(files.length > 0, row.join(' | '));
    for (const file of files) assert.ok(existsSync(file), file);
  }
});

test('docs/evidence/guarantees.md has each of the ten guarantees', () => {
  const numbers = new Set(rows.map(([, first]) => /^(\d+)\. /.exec(first ?? '')?.[1]));
  for (let number = 1; number <= 10; number++) assert.ok(numbers.has(`${number}`), `guarantee ${number}`);
});

test('npm run test:attacks runs every test file that docs/evidence/attacks.md names', () => {
  const items = findItems({ full: true }).map(({ name }) => name);
  const files = attackFiles();
  assert.ok(files.length > 60);
  for (const file of files) assert.ok(items.includes(file), file);
});

test('docs/evidence/attacks.md names tests that exist, one for each attack', () => {
  const rows = readFileSync('docs/evidence/attacks.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| attack') && !line.startsWith('| ---'));
  assert.ok(rows.length > 30);
  for (const row of rows) {
    const [, , answer = '', shown = ''] = row.split('|').map((cell) => cell.trim());
    if (answer.startsWith('*not here*')) continue;
    const files = shown.split(', ').map((one) => /^`([^`]+)`$/.exec(one)?.[1]);
    for (const file of files) assert.ok(file !== undefined && existsSync(file), row);
  }
});
