import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { answerTo } from '../../../src/cli/ask.ts';

test('an answer is what was typed; Ctrl-C and Ctrl-D are none', async () => {
  for (const [typed, answer] of [
    ['yes\n', 'yes'],
    ['\u0003', ''],
    ['\u0004', ''],
  ] as const) {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const answered = answerTo('Delete? ', input, output);
    input.write(typed);
    assert.equal(await answered, answer);
  }
});
