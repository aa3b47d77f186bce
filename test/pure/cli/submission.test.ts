import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CliError, EXIT } from 'command-kit/exit';
import { AnswerLost } from '../../../src/cli/client.ts';
import { submitted } from '../../../src/cli/submission.ts';
import { keptOutput } from '../../support/cli.ts';

const lost = new AnswerLost(EXIT.unreachable, 'No answer.');

/** Submits to an API whose answers are these, one after the other; gives the keys that it saw. */
function submitting(
  answers: (string | Error)[],
  given: { idempotencyKey?: string; patienceMs?: number } = {},
) {
  const output = keptOutput();
  const keys: string[] = [];
  const result = submitted({ output, ...given }, async (headers) => {
    keys.push(headers['idempotency-key']);
    const answer = answers.shift()!;
    if (typeof answer !== 'string') throw answer;
    return answer;
  });
  return { result, keys, output };
}

test('a lost answer is asked for again with the same key, which is shown', async () => {
  const { result, keys, output } = submitting([lost, 'exp-1']);
  assert.equal(await result, 'exp-1');
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
  assert.deepEqual(output.remarks, [`No answer. Retrying for a minute. Idempotency key: ${keys[0]}.`]);
});

test('an answer that never comes ends with the command to repeat', async () => {
  const { result, output } = submitting([lost], { idempotencyKey: 'mine', patienceMs: -1 });
  await assert.rejects(result, lost);
  assert.match(output.remarks[0]!, /--idempotency-key mine: nothing is submitted twice/);
});

test('a refusal and an API that was not reached are not repeated', async () => {
  for (const error of [new CliError(EXIT.refused, 'No.'), new CliError(EXIT.unreachable, 'Not there.')]) {
    const { result, keys } = submitting([error, 'exp-1']);
    await assert.rejects(result, error);
    assert.equal(keys.length, 1);
  }
});

test('a key of the user is sent as given, and a random one differs from submission to submission', async () => {
  const [mine, one, other] = [{ idempotencyKey: 'k1' }, {}, {}].map((given) => submitting(['exp-1'], given));
  await Promise.all([mine!.result, one!.result, other!.result]);
  assert.deepEqual(mine!.keys, ['k1']);
  assert.notEqual(one!.keys[0], other!.keys[0]);
});

test('a submission removes its handler of signals', async () => {
  const before = process.listenerCount('SIGINT');
  await submitting(['exp-1']).result;
  assert.equal(process.listenerCount('SIGINT'), before);
});
