import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { createLiveBlock } from '../src/live-block.ts';

test('a block is written over, and its lines are cut to the terminal', () => {
  const terminal = Object.assign(new PassThrough(), { columns: 20 }) as unknown as NodeJS.WriteStream;
  const written = () => String((terminal as unknown as PassThrough).read() ?? '');
  const block = createLiveBlock(terminal);
  block.show(['one', 'x'.repeat(40)]);
  const [first, second] = written().replace('\u001b[0J', '').split('\n');
  assert.equal(first, 'one');
  assert.equal(second!.length, 19);
  block.show(['学'.repeat(12), 'two']);
  // Two lines up, all below cleared. A line of 24 columns would take two, and the block three.
  assert.equal(written(), `\u001b[20D\u001b[2A\u001b[0J${'学'.repeat(5)}…${'学'.repeat(4)}\ntwo\n`);
});
