import { randomUUID } from 'node:crypto';
import type { StoreContext } from '../context.ts';
import type { Pressure } from '../redis/fitness.ts';

/**
 * A request with an Idempotency-Key: `name` stands for the caller and the key, `digest` for the request. The same name
 * with another digest is `idempotency-conflict`.
 */
export interface Idempotency {
  name: string;
  digest: string;
}

/** The stored answer to a request, for its repetitions. */
export interface KeptAnswer {
  status: number;
  /** Headers that a repetition gets too. */
  headers: Record<string, string>;
  body: string;
  /** The answer had a secret, so its body is not stored. */
  withheld?: true;
}

/** Whether a request with an Idempotency-Key is the first one or a repetition. */
export type AnswerClaim =
  | { outcome: 'claimed'; token: string }
  /** An earlier request has this answer. */
  | { outcome: 'answered'; answer: KeptAnswer }
  /** The first request is still running. */
  | { outcome: 'running' }
  /** The key was used with another request. */
  | { outcome: 'conflict' }
  /** The store is nearly full and stores no more answers. */
  | { outcome: 'full' };

/** Answers to requests that carry an Idempotency-Key. */
export function createAnswers({ run, limits }: StoreContext, pressure: Pressure) {
  return {
    /**
     * Claims the right to answer a request. A step that creates a record needs no claim: it receives the
     * {@link Idempotency} and stores its answer in the same step. A claim expires after `leaseMs`.
     */
    async claim({ name, digest, leaseMs }: Idempotency & { leaseMs: number }): Promise<AnswerClaim> {
      const { accepting } = await pressure.recent();
      const token = randomUUID();
      const reply = await run('claim-answer', [name, digest, token, leaseMs, accepting ? '1' : '0']);
      const [outcome, answer] = reply as [AnswerClaim['outcome'], string];
      if (outcome === 'claimed') return { outcome, token };
      if (outcome === 'answered') return { outcome, answer: JSON.parse(answer) as KeptAnswer };
      return { outcome };
    },

    /** Stores the answer for `keepMs`; ignored if the claim is lost. */
    async keep({
      name,
      token,
      caller,
      answer,
      keepMs,
    }: {
      name: string;
      token: string;
      /** The caller whose oldest answers are deleted if there are too many. */
      caller: string;
      answer: KeptAnswer;
      keepMs: number;
    }): Promise<void> {
      const { answersOfCaller, answerBytesOfCaller } = limits;
      await run('end-answer', [
        name,
        token,
        JSON.stringify(answer),
        keepMs,
        caller,
        answersOfCaller,
        answerBytesOfCaller,
      ]);
    },

    /** Releases the claim: the next request with the key is the first one again. */
    async drop({ name, token }: { name: string; token: string }): Promise<void> {
      await run('end-answer', [name, token, '', 0]);
    },
  };
}
