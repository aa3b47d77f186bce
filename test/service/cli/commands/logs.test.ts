import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { AttemptEvent } from '../../../../src/core/events.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { running } from '../../../support/store.ts';

const api = await apiFor({ after });

async function run(...argv: string[]) {
  const output = keptOutput();
  const { exitCode } = await runProgram(output, ['logs', ...argv, ...api.connection]);
  return { exitCode, output };
}

/** 7000 lines in pairs on both pipes, a line that is no text for a terminal, and a gap. */
async function recorded() {
  const lease = await running(api.store);
  const events: AttemptEvent[] = Array.from({ length: 3500 }, (_, index) => ({
    type: 'log',
    source: index % 2 ? 'stderr' : 'stdout',
    lines: [`line ${2 * index + 1}`, `line ${2 * index + 2}`],
    cutBytes: 0,
  }));
  events.push({ type: 'log', source: 'stdout', lines: ['\u001b[2J\u202eevil\u0000'], cutBytes: 0 });
  events.push({ type: 'gap', kind: 'logs', step: 0, count: 3, bytes: 9, rows: 0, reason: 'full' });
  await api.store.events.append(
    lease,
    events.map((event, index) => ({ sequence: index + 1, at: 7, event })),
  );
  return lease;
}
const lease = await recorded();
const id = lease.experiment;

describe('echelon logs', () => {
  test('prints all of a long log, and nothing that a terminal obeys', async () => {
    const { output } = await run(id);
    // Fails where only one page is asked for.
    assert.equal(output.lines.length, 7002);
    assert.equal(output.lines[6999], 'line 7000');
    assert.equal(output.lines[7000], '\\u202eevil');
    assert.match(output.lines[7001]!, /3 lines, 9 bytes dropped/);
    const raw = await run(id, '--raw', '--tail', '2');
    assert.equal(raw.output.lines[0], '\u001b[2J\u202eevil\u0000');
  });

  test('begins at a line, or with the last ones; takes a text, an attempt', async () => {
    assert.equal((await run(id, '--since-line', '6990')).output.lines[0], 'line 6990');
    assert.equal((await run(id, '--tail', '4')).output.lines[0], 'line 6999');
    const found = await run(id, '--contains', 'line 77', '--json');
    const lines = found.output.lines.map((line) => JSON.parse(line));
    assert.equal(lines.length, 12);
    for (const { line, text } of lines.slice(0, -1)) assert.equal(text, `line ${line}`);
    assert.deepEqual((await run(id, '--attempt', '2')).output.lines, []);
  });

  test('colours are shown in a terminal and removed elsewhere, and a line is found without them', async (t) => {
    const mine = await running(api.store);
    const event: AttemptEvent = {
      type: 'log',
      source: 'stdout',
      lines: ['\u001b[31mred\u001b[0m alert\u001b[1A'],
      cutBytes: 0,
    };
    await api.store.events.append(mine, [{ sequence: 1, at: 7, event }]);
    const found = ['--contains', 'red alert'];
    assert.deepEqual((await run(mine.experiment, ...found)).output.lines, ['red alert']);
    const before = process.env.FORCE_COLOR;
    t.after(() => {
      if (before === undefined) delete process.env.FORCE_COLOR;
      else process.env.FORCE_COLOR = before;
    });
    process.env.FORCE_COLOR = '1';
    assert.deepEqual((await run(mine.experiment, ...found)).output.lines, ['\u001b[31mred\u001b[0m alert']);
  });

  test('a progress bar is one line that changes on a terminal, and its present state elsewhere', async () => {
    const mine = await running(api.store);
    let sequence = 0;
    const append = (...events: Partial<Extract<AttemptEvent, { type: 'log' }>>[]) =>
      api.store.events.append(
        mine,
        events.map((event) => ({
          sequence: ++sequence,
          at: 7,
          event: { type: 'log', source: 'stderr', lines: [], cutBytes: 0, ...event },
        })),
      );
    await append(
      { lines: ['start'] },
      { progress: '10%' },
      { source: 'stdout', lines: ['other'] },
      { progress: '20%' },
    );
    assert.deepEqual((await run(mine.experiment)).output.lines, ['start', 'other', '20%']);
    assert.deepEqual((await run(mine.experiment, '--tail', '1')).output.lines, ['other', '20%']);
    const shown: string[] = [];
    const end = async () => {
      await append({ progress: '30%' }, { source: 'stdout', lines: ['more'] }, { lines: ['100%'] });
      await api.store.attempts.end(mine, { to: 'succeeded', reason: 'done' });
    };
    let ending: Promise<void> | undefined;
    const output = {
      ...keptOutput(),
      line: (text = '') => void shown.push(text),
      block: () => ({
        show(lines: readonly string[]) {
          shown.push(`block ${lines.join('|')}`);
          ending ??= end();
        },
      }),
    };
    await runProgram(output, ['logs', mine.experiment, '-f', ...api.connection]);
    await ending;
    assert.deepEqual(
      shown.join(', '),
      'start, other, block 20%, block 30%, block , more, block 30%, block , 100%',
    );
    assert.deepEqual((await run(mine.experiment)).output.lines, ['start', 'other', 'more', '100%']);
  });

  test('--follow continues to the end with consecutive line numbers', async () => {
    const mine = await running(api.store);
    const line = (sequence: number): { sequence: number; at: number; event: AttemptEvent } => ({
      sequence,
      at: 7,
      event: { type: 'log', source: 'stdout', lines: [`l${sequence}`], cutBytes: 0 },
    });
    await api.store.events.append(mine, [line(1), line(2)]);
    const output = keptOutput();
    const grows = async () => {
      await api.store.events.append(mine, [line(3), line(4)]);
      await api.store.attempts.end(mine, { to: 'succeeded', reason: 'done' });
    };
    let grown: Promise<void> | undefined;
    const observed = {
      ...output,
      line: (text?: string) => {
        output.line(text);
        grown ??= grows();
      },
    };
    await runProgram(observed, ['logs', mine.experiment, '-f', '--json', ...api.connection]);
    await grown;
    assert.deepEqual(
      output.lines.map((text) => JSON.parse(text)).map(({ line: number, text }) => [number, text]),
      [
        [1, 'l1'],
        [2, 'l2'],
        [3, 'l3'],
        [4, 'l4'],
      ],
    );
  });
});
