import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CliError, EXIT } from 'command-kit/exit';
import { retrying } from '../../../src/cli/retrying.ts';
import { keptOutput } from '../../support/cli.ts';

const silent = new CliError(EXIT.unreachable, 'No answer.');

/** Asks that answer, or throw, what `answers` says one after the other. */
function asking(answers: (number | Error)[], patienceMs?: number) {
  const output = keptOutput();
  const ask = async () => {
    const answer = answers.shift()!;
    if (typeof answer !== 'number') throw answer;
    return answer;
  };
  const settings = patienceMs === undefined ? { output, pauseMs: 1 } : { output, pauseMs: 1, patienceMs };
  return { look: retrying(ask, settings), output };
}

test('a server that is away for a moment is asked again, and that is said once', async () => {
  const { look, output } = asking([1, silent, silent, 2, silent, 3]);
  assert.deepEqual([await look(), await look(), await look()], [1, 2, 3]);
  assert.deepEqual(output.remarks, Array(2).fill('No answer. Retrying for a minute.'));
});

test('one that never answered, one that refuses and one that stays away are not', async () => {
  await assert.rejects(asking([silent, 1]).look(), silent);
  for (const [error, patienceMs] of [
    [new CliError(EXIT.refused, 'No.'), undefined],
    [new TypeError('a fault of ours'), undefined],
    [silent, -1],
  ] as const) {
    const { look } = asking([1, error, 2], patienceMs);
    await look();
    await assert.rejects(look(), error);
  }
});
