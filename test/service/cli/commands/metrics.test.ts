import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { EXIT } from 'echelon-verify/cli/exit';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { running } from '../../../support/store.ts';

const api = await apiFor({ after });
const { experiment: id } = await recorded();

async function recorded() {
  const lease = await running(api.store);
  const events = Array.from({ length: 100 }, (_, step) => ({
    sequence: step + 1,
    at: 0,
    event: {
      type: 'metrics',
      step,
      values: { 'actor/kl': step / 3, 'actor/x\u001b[2J': step === 5 ? 'NaN' : 1, loss: 2 },
    } as const,
  }));
  await api.store.events.append(lease, events);
  return lease;
}

async function run(...argv: string[]) {
  const output = keptOutput();
  const ended = await runProgram(output, ['metrics', ...argv, ...api.connection]);
  return { ...ended, output, text: output.lines.join('\n') };
}

describe('echelon metrics', () => {
  test('lists names with their last values, inert', async () => {
    const { text } = await run(id);
    assert.match(text, /^METRIC +LAST\nactor\/kl +33\nactor\/x\\u001b\[2J +1\nloss +2$/);
    assert.equal((await run(id, '--json')).output.json<{ items: unknown[] }>().items.length, 3);
  });

  test('shows some of them over the steps', async () => {
    const { text } = await run(id, 'actor/*', '--resolution', '4');
    assert.match(text, /^actor\/kl\nSTEPS +VALUES +MEAN/);
    assert.match(text, /^0-24 +25 +4 +0 +8 +8$/m);
    assert.match(text, /^0-24 +25 +1 +1 +1 +1 +1$/m);
    const part = await run(id, 'actor/kl', '--from', '3', '--to', '4', '--json');
    const { series } = part.output.json<{ series: { points: { first: number }[] }[] }>();
    assert.deepEqual(
      series[0]?.points.map(({ first }) => first),
      [1, 4 / 3],
    );
    assert.equal((await run(id, 'nothing-like-it')).exitCode, EXIT.notOk);
    assert.match((await run(id, 'actor/kll')).error!.message, /Did you mean actor\/kl\?/);
  });

  test('prints every value at full precision', async () => {
    const { output } = await run(id, 'actor/kl', '--points');
    assert.equal(output.lines[0], 'metric\tattempt\tstep\tvalue');
    assert.equal(output.lines[2], `actor/kl\t1\t1\t${1 / 3}`);
    assert.equal(output.lines.length, 101);
    await assert.rejects(run(id, '--points', '--json'), /cannot be used with option '--json'/);
  });
});
