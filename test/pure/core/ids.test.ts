import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  COMMAND_ID,
  EXPERIMENT_ID,
  entryId,
  newCommandId,
  newExperimentId,
  parseEntryId,
} from '../../../src/core/ids.ts';

describe('experiment ids', () => {
  test('experiment ids have one form, are all different, and sort by the time of their making', async () => {
    const early = newExperimentId();
    const many = new Set(Array.from({ length: 10_000 }, newExperimentId));
    assert.equal(many.size, 10_000);
    for (const id of many) assert.match(id, EXPERIMENT_ID);
    while (newExperimentId().slice(0, 13) === early.slice(0, 13)) await new Promise(setImmediate);
    assert.ok(newExperimentId() > early);
  });
});

test('command ids have a form of their own', () => {
  assert.match(newCommandId(), COMMAND_ID);
  assert.doesNotMatch(newCommandId(), EXPERIMENT_ID);
  assert.notEqual(newCommandId(), newCommandId());
});

describe('stream ids', () => {
  test('event n of attempt a stands at a-(n·2²⁰)', () => {
    assert.equal(entryId(1, 1), '1-1048576');
    assert.equal(entryId(3, 2 ** 33), '3-9007199254740992');
  });

  test('stream ids are read back, and entries of the controller after an event are distinguished from the event', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2 ** 31 }),
        fc.integer({ min: 1, max: 2 ** 33 }),
        fc.integer({ min: 1, max: 2 ** 20 - 1 }),
        (attempt, sequence, offset) => {
          assert.deepEqual(parseEntryId(entryId(attempt, sequence)), {
            attempt,
            sequence,
            fromAttempt: true,
          });
          const later = `${attempt}-${(BigInt(sequence) << 20n) + BigInt(offset)}`;
          assert.deepEqual(parseEntryId(later), { attempt, sequence, fromAttempt: false });
        },
      ),
    );
  });

  test('an entry before the first event is the controller’s', () => {
    assert.deepEqual(parseEntryId('0-1'), { attempt: 0, sequence: 0, fromAttempt: false });
    assert.deepEqual(parseEntryId('2-0'), { attempt: 2, sequence: 0, fromAttempt: false });
  });

  test('anything else is not one', () => {
    for (const text of [
      '',
      '1',
      '-1',
      '1-',
      '1-x',
      '1-2-3',
      ' 1-2',
      '1-2\n',
      '1-18446744073709551616',
      '99999999999-1',
      '$',
      '0x1-1',
    ])
      assert.equal(parseEntryId(text), undefined, text);
  });
});
