import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logTexts } from '../../../src/core/log-lines.ts';

test('an event adds its lines, and one where something is missing', () => {
  const log = { type: 'log', source: 'stderr', lines: ['a', ''], cutBytes: 0 } as const;
  assert.deepEqual(logTexts({ ...log, lines: [...log.lines] }), [
    { source: 'stderr', text: 'a' },
    { source: 'stderr', text: '' },
  ]);
  assert.deepEqual(logTexts({ ...log, lines: ['x'], cutBytes: 9 }).at(-1), {
    source: 'gap',
    text: '[9 bytes of lines that are too long were cut here]',
  });
  const gap = { type: 'gap', step: 0, count: 2, bytes: 30, rows: 4, reason: 'full' } as const;
  assert.deepEqual(logTexts({ ...gap, kind: 'logs' }), [
    { source: 'gap', text: '[2 lines, 30 bytes dropped: full]' },
  ]);
  assert.deepEqual(logTexts({ ...gap, kind: 'reports' }), [{ source: 'gap', text: '[2 dropped: full]' }]);
  assert.deepEqual(logTexts({ ...gap, kind: 'reports', count: 0 }), [
    { source: 'gap', text: '[dropped: full]' },
  ]);
  assert.deepEqual(logTexts({ ...gap, kind: 'batch' }), []);
  assert.deepEqual(logTexts({ type: 'metrics', step: 1, values: {} }), []);
});
