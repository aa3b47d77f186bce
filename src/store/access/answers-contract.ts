/**
 * A request with an Idempotency-Key: `name` stands for the caller and the key, `digest` for the request. The same name
 * with another digest is `idempotency-conflict`.
 */
export interface Idempotency {
  name: string;
  digest: string;
}

/** An answer that is kept for whoever repeats its request. */
export interface KeptAnswer {
  status: number;
  /** Of those headers that a repetition must be told. */
  headers: Record<string, string>;
  body: string;
  /** It held a secret: only that there was an answer is kept. */
  withheld?: true;
}

/** What a request that carries an Idempotency-Key is: the first one, or which repetition. */
export type AnswerClaim =
  | { outcome: 'claimed'; token: string }
  /** It was answered before. */
  | { outcome: 'answered'; answer: KeptAnswer }
  /** The first one is being carried out. */
  | { outcome: 'running' }
  /** The key was used with another request. */
  | { outcome: 'conflict' }
  /** The store is nearly full, and nothing more is kept. */
  | { outcome: 'full' };

/** Answers to requests that carry an Idempotency-Key. */
export interface AnswerStore {
  /**
   * Claims the right to answer a request. A step that stores what a request asks for needs no claim: it is told the
   * {@link Idempotency} and keeps its answer in the same step. Without an end the claim is given up after `leaseMs`.
   */
  claim(input: Idempotency & { leaseMs: number }): Promise<AnswerClaim>;
  /** Keeps the answer for `keepMs`; passed over where the claim is lost. */
  keep(input: {
    name: string;
    token: string;
    /** Whose oldest answers go when there are too many. */
    caller: string;
    answer: KeptAnswer;
    keepMs: number;
  }): Promise<void>;
  /** Gives the claim up: the next request with the key is the first one again. */
  drop(input: { name: string; token: string }): Promise<void>;
}
