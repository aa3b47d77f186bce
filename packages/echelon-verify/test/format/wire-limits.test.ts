import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { encodeBatch } from '../../src/format/batch-wire.ts';
import { checkWire } from '../../src/format/wire-limits.ts';
import { type AttackFile, longName, repeatedField } from '../support/attack-files.ts';
import { goldenBatch } from '../support/golden-batches.ts';

/** What checking takes, in bytes of the heap and of buffers. */
function checked({ bytes }: AttackFile): void {
  checkWire(gunzipSync(bytes), 'a.pb');
}

test('batches of every size pass', () => {
  for (const name of ['one-step-episodes', 'alfworld-scale', 'walk-K2-mean_std_norm-base0'])
    checkWire(encodeBatch(goldenBatch(name)), name);
});

test('too many or too long parts are refused before they are decoded', () => {
  const cases: [AttackFile, RegExp][] = [
    [repeatedField(32, 3_000_000), /field rewards: expected at most 256, found more/],
    [repeatedField(7, 3_000_000), /field group_names: expected at most \d+, found more/],
    [repeatedField(9, 3_000_000), /field trajectory_names: expected at most \d+, found more/],
    [repeatedField(31, 3_000_000), /field action_texts: expected at most \d+, found more/],
    [repeatedField(77, 3_000_000), /field fields: expected at most 256, found more/],
    [repeatedField(2, 3_000_000), /field fields: expected at most 256, found more/],
    [longName(2, 70_000), /field name: expected at most 65536 bytes, found 70000 bytes/],
    [longName(7, 70_000), /field group_names: expected at most 65536 bytes/],
    [
      repeatedField(32, 1, `\n${'\x80\x80\x08'}`.padEnd(140_000, 'n')),
      /field rewards.name: expected at most 65536 bytes/,
    ],
    [repeatedField(4, 1, 'e'.repeat(70_000)), /field estimator: expected at most 65536 bytes/],
  ];
  for (const [file, message] of cases) {
    assert.throws(
      () => checked(file),
      (error: Error & { code?: string }) => {
        assert.match(error.message, message);
        return error.code === 'too-large';
      },
    );
  }
});

test('a message that is cut off is left to the decoder', () => {
  const whole = encodeBatch(goldenBatch('one-step-episodes'));
  for (let end = 0; end < whole.length; end += 7) checkWire(whole.subarray(0, end), 'cut.pb');
});
