import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenTime } from '../../../src/cli/instants.ts';

test('a date and a date with a time are of the same zone, UTC, unless an offset is stated', () => {
  const cases = [
    ['2026-11-21', '2026-11-21T00:00:00Z'],
    ['2026-11-21T14:30', '2026-11-21T14:30:00Z'],
    ['2026-11-21 14:30:05.25', '2026-11-21T14:30:05.250Z'],
    ['2026-11-21T14:30Z', '2026-11-21T14:30:00Z'],
    ['2026-11-21T14:30+01:00', '2026-11-21T13:30:00Z'],
    ['2026-11-21T14:30-05:30', '2026-11-21T20:00:00Z'],
    ['2028-02-29', '2028-02-29T00:00:00Z'],
  ] as const;
  for (const [text, at] of cases) assert.deepEqual(givenTime(text), { at: Date.parse(at) }, text);
  assert.deepEqual(givenTime('90min'), { agoMs: 5_400_000 });
});

test('a day or a time that does not exist is refused', () => {
  for (const text of [
    '2026-02-30',
    '2026-02-29',
    '2026-13-01',
    '2026-11-21T24:30',
    '2026-11-21T10:61',
    '2026-11-21T10:00+25:00',
    '2026-11',
    '2026-11-21T',
    'yesterday',
    '1969-12-31',
    '',
  ])
    assert.throws(() => givenTime(text), { code: 'commander.invalidArgument' }, text);
});
