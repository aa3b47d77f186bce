import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coloredState, duration, inert, json, successRate, table } from '../../../src/cli/output.ts';
import type { Experiment } from '../../../src/schemas/experiment.ts';

test('a table has its head, its rows in columns, and no trailing spaces', () => {
  const lines = table(
    ['ID', 'STATE'],
    [
      ['exp-1', 'running'],
      ['x', 2],
    ],
  ).split('\n');
  assert.equal(lines.length, 3);
  assert.equal(lines[1]!.indexOf('running'), lines[2]!.indexOf('2'));
  for (const line of lines) assert.equal(line, line.trimEnd());
});

test('durations are said in the unit that fits', () => {
  assert.deepEqual([0, 45_000, 720_000, 12_240_000, 181_440_000, -5].map(duration), [
    '0 s',
    '45 s',
    '12 min',
    '3.4 h',
    '2.1 d',
    '0 s',
  ]);
});

test('foreign text cannot steer the terminal', () => {
  assert.equal(inert('a\u001b[31mb\u202ec\rd\u0000'), 'a\\u001b[31mb\\u202ec\\u000dd\\u0000');
  assert.equal(inert('tab\tand\nline, ümlaut, 字'), 'tab\tand\nline, ümlaut, 字');
});

test('the success rate is that on held-out games, else that of rollouts, else none', () => {
  const rate = (metrics: Record<string, number | string>) =>
    successRate({ progress: { stage: '', step: 0, steps: 0, metrics } } as Experiment);
  assert.equal(rate({ 'val/success_rate': 0.834, 'episode/success_rate': 0.5 }), '83 %');
  assert.equal(rate({ 'episode/success_rate': 0.5 }), '50 %');
  assert.equal(rate({ 'val/success_rate': 'NaN' }), '-');
  assert.equal(rate({}), '-');
});

test('a state is shown by its name, and JSON by lines', () => {
  assert.ok(coloredState('running').includes('running'));
  assert.equal(coloredState('queued'), 'queued');
  assert.equal(json({ a: 1 }), '{\n  "a": 1\n}');
});
