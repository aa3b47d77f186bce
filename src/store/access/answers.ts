import { randomUUID } from 'node:crypto';
import type { StoreContext } from '../redis/context.ts';
import type { createPressure } from '../redis/fitness.ts';
import type { AnswerClaim, AnswerStore, KeptAnswer } from './answers-contract.ts';

/** See {@link AnswerStore}. */
export function createAnswers(
  { run, limits }: StoreContext,
  pressure: ReturnType<typeof createPressure>,
): AnswerStore {
  return {
    async claim({ name, digest, leaseMs }) {
      const { accepting } = await pressure.recent();
      const token = randomUUID();
      const reply = await run('claim-answer', [name, digest, token, leaseMs, accepting ? '1' : '0']);
      const [outcome, answer] = reply as [AnswerClaim['outcome'], string];
      if (outcome === 'claimed') return { outcome, token };
      if (outcome === 'answered') return { outcome, answer: JSON.parse(answer) as KeptAnswer };
      return { outcome };
    },

    async keep({ name, token, caller, answer, keepMs }) {
      const { answersOfCaller, answerBytesOfCaller } = limits;
      await run('end-answer', [
        ...[name, token, JSON.stringify(answer), keepMs],
        ...[caller, answersOfCaller, answerBytesOfCaller],
      ]);
    },

    async drop({ name, token }) {
      await run('end-answer', [name, token, '', 0]);
    },
  };
}
