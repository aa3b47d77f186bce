import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import type { Experiment } from 'echelon-client/calls';
import { answerTo } from '../../../src/cli/commands/cancel-delete.ts';
import { createBars } from '../../../src/cli/commands/demo/bars.ts';

function stream(isTTY: boolean) {
  let text = '';
  const made = new Writable({
    write(part, _, done) {
      text += part;
      done();
    },
  });
  return {
    stream: Object.assign(made, { isTTY, columns: 120 }) as unknown as NodeJS.WriteStream,
    text: () => text,
  };
}

function at(step: number, state: Experiment['state'] = 'running'): Experiment {
  const metrics = { 'episode/success_rate': 0.5 };
  return {
    id: 'exp-1',
    name: 'HGPO',
    state,
    progress: { stage: 'training', step, steps: 20, metrics },
    verification: { rowsVerified: 7, rowsSeen: 9 },
  } as unknown as Experiment;
}

test('without a terminal a line comes with every tenth and every change of state, not with every event', () => {
  const { stream: to, text } = stream(false);
  const bars = createBars(['HGPO'], to);
  for (let step = 0; step < 20; step += 1) bars.update(at(step));
  bars.update(at(20, 'succeeded'));
  bars.stop();
  const lines = text().trimEnd().split('\n');
  assert.equal(lines.length, 11);
  assert.match(lines[5]!, /HGPO +step +10\/20 \| success +50 % \| rows verified 7\/9 +\| training/);
  assert.match(lines.at(-1)!, /succeeded/);
});

test('on a terminal there is one bar for each experiment', () => {
  const { stream: to, text } = stream(true);
  const bars = createBars(['HGPO', 'GRPO'], to);
  bars.update(at(20, 'succeeded'));
  bars.stop();
  assert.match(text(), /HGPO \[█{20}\] step {2}20\/20/);
  assert.match(text(), /GRPO \[░{20}\]/);
});

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
