import assert from 'node:assert/strict';
import { test } from 'node:test';
import { command, quoted } from '../../src/models/commands.ts';
import * as words from '../../src/models/words.ts';
import { withNames } from '../../src/models/words.ts';

test('a share that is neither none nor all is never shown as 0 % or 100 %', () => {
  assert.equal(words.percent(1, 1000), '<1 %');
  assert.equal(words.percent(999, 1000), '>99 %');
  assert.equal(words.percent(0, 10), '0 %');
  assert.equal(words.percent(10, 10), '100 %');
  assert.equal(words.percent(0, 0), '–');
});

test('a figure has at most the given digits, and null is "none", not 0', () => {
  assert.equal(words.figure(0.123456, 4), '0.1235');
  assert.equal(words.figure(1.5e-7), '1.5e-7');
  assert.equal(words.figure(null), 'none');
  assert.equal(words.figure('NaN'), 'NaN');
  assert.equal(words.exactly(-0.12649098038), '-0.126491');
});

test('times are relative in both directions, in the largest unit that fits', () => {
  assert.equal(words.ago(0, 45_000), '45 s ago');
  assert.equal(words.ago(3 * 3_600_000, 0), 'in 3 h');
  assert.equal(words.ago(0, 500), 'now');
  assert.equal(words.duration(72 * 3_600_000), '3 d');
  const noon = new Date(2026, 10, 23, 12, 5).getTime();
  assert.equal(words.clock(noon, noon), '12:05');
  assert.equal(words.clock(noon, noon + 86_400_000), '23 Nov 12:05');
});

test('ids of known experiments become their names, and unknown ids stay', () => {
  const [known, unknown] = ['exp-00cz8h3k7n2q4r5s6t7v', 'exp-00cz8h3k7n2q4r5s6t7w'];
  const text = `would delay ${known}, which is next; ${unknown} waits`;
  assert.equal(withNames(text, new Map([[known, 'a']])), `would delay a, which is next; ${unknown} waits`);
});

test('a command has the options that are set, quoted for a shell', () => {
  assert.equal(
    command('ls', { state: ['running', 'queued'], name: "it's", project: undefined, json: true }),
    `echelon ls --state running,queued --name 'it'\\''s' --json`,
  );
  assert.equal(command('get exp-1'), 'echelon get exp-1');
  assert.equal(quoted('a b; rm -rf /'), "'a b; rm -rf /'");
});
