import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const program = new URL('../../../../src/cli/local/guard-process.ts', import.meta.url).pathname;

test('the guard reports when it listens, forgets on request, and undoes the rest at the end of its input', () => {
  const [kept, removed] = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'echelon-guard-')));
  const messages = [
    { id: 1, undo: { kind: 'remove', path: kept } },
    { id: 2, undo: { kind: 'remove', path: removed } },
    { forget: 1 },
  ];
  const input = messages.map((message) => `${JSON.stringify(message)}\n`).join('');
  const { stdout, status } = spawnSync(process.execPath, [program], { input, encoding: 'utf8' });
  assert.deepEqual([stdout, status], ['ready\n', 0]);
  assert.deepEqual([existsSync(kept!), existsSync(removed!)], [true, false]);
  spawnSync('rm', ['-r', kept!]);
});

test('a process that has ended already is no trouble', () => {
  const { pid } = spawnSync('true');
  const input = `${JSON.stringify({ id: 1, undo: { kind: 'group', pid, graceMs: 5000 } })}\n`;
  assert.equal(spawnSync(process.execPath, [program], { input }).status, 0);
});
